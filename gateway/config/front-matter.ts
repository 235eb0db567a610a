// The lines of `name: value` between two lines `---` at the beginning of a Markdown file.

interface WithFrontMatter {
  /** By name, with 1-based line numbers. */
  readonly members: ReadonlyMap<string, { readonly value: string; readonly line: number }>;
  /** Lines that are no member. */
  readonly unreadable: readonly number[];
  /** The text behind it. */
  readonly body: string;
  /** The number of the first line of the body, 1-based. */
  readonly bodyLine: number;
}

export function readFrontMatter(text: string): WithFrontMatter {
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  const end = lines[0] === '---' ? lines.indexOf('---', 1) : -1;
  const members = new Map<string, { value: string; line: number }>();
  const unreadable: number[] = [];
  for (let index = 1; index < end; index += 1) {
    const [, name, value = ''] = /^([a-z][A-Za-z]*):\s*(.*?)\s*$/.exec(lines[index] as string) ?? [];
    if (name !== undefined) members.set(name, { value: value.replace(/^(["'])(.*)\1$/, '$2'), line: index + 1 });
    else if (lines[index] !== '') unreadable.push(index + 1);
  }
  let first = end + 1;
  while (first < lines.length && lines[first]?.trim() === '') first += 1;
  return { members, unreadable, body: lines.slice(first).join('\n'), bodyLine: first + 1 };
}
