// The options of the commands of the simulation: a mistake is one sentence, and exit code 2.

/** Undefined, after the sentence on what is wrong, if they cannot be read. */
export function optionsOf<T>(command: string, read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    // Behind its first sentence, Node tells how to pass an argument that begins with a dash.
    const [sentence] = (error as Error).message.split(/\.(?:\s|$)/);
    console.error(`${sentence}. \`npm run ${command} -- --help\` shows how it is used.`);
    process.exitCode = 2;
    return undefined;
  }
}

/** Throws a sentence if the text is no number above 0. */
export function positive(option: string, text: string): number {
  const number = Number(text);
  if (!(number > 0)) throw new Error(`--${option} takes a number above 0, not "${text}".`);
  return number;
}
