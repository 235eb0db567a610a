// What is wrong with a configuration or a contract: where, what, and what to do about it. Mistakes are collected and told all at once.

export interface Mistake {
  /** As the operator would type it, relative to the working directory. */
  readonly file: string;
  /** 1-based; absent when the mistake is about the whole file. */
  readonly line?: number | undefined;
  readonly column?: number | undefined;
  /** The place inside the file, such as `upstreams.platform.live`. */
  readonly place?: string | undefined;
  readonly reason: string;
  /** One sentence that tells what to do. */
  readonly remedy: string;
}

/** Thrown by boot, check and reload: nothing starts, and nothing that runs is replaced. */
export class ConfigError extends Error {
  readonly mistakes: readonly Mistake[];

  constructor(mistakes: readonly Mistake[]) {
    super(mistakes.map(toSentence).join('\n'));
    this.name = 'ConfigError';
    this.mistakes = mistakes;
  }
}

/** `config/limits.yaml:7:5 tiers.gold: must be … Write …` */
export function toSentence(mistake: Mistake): string {
  const at = [mistake.file, mistake.line, mistake.column].filter((part) => part !== undefined).join(':');
  const place = mistake.place ? ` ${mistake.place}:` : '';
  return `${at}${place} ${mistake.reason} ${mistake.remedy}`;
}

/** The remedy for a name that does not resolve: the closest known name, or all of them. */
export function suggest(name: string, known: Iterable<string>): string {
  const names = [...known].sort();
  const closest = names
    .map((candidate) => ({ candidate, distance: editDistance(name, candidate) }))
    .sort((a, b) => a.distance - b.distance)[0];
  if (closest && closest.distance <= Math.max(2, Math.floor(name.length / 3)))
    return `Did you mean "${closest.candidate}"?`;
  if (names.length === 0) return 'None is defined.';
  const shown = names.slice(0, 12).join(', ');
  return `Use one of: ${shown}${names.length > 12 ? ', …' : ''}.`;
}

function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const current = [i];
    for (let j = 1; j <= b.length; j++) {
      const substitution = (previous[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      current.push(Math.min(substitution, (previous[j] as number) + 1, (current[j - 1] as number) + 1));
    }
    previous = current;
  }
  return previous[b.length] as number;
}
