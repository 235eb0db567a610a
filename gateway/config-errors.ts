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

/** `config/limits.yaml:7:5: tiers.gold: 0 is not possible here. It must be …` */
export function toSentence(mistake: Mistake): string {
  const at = [mistake.file, mistake.line, mistake.column].filter((part) => part !== undefined).join(':');
  return [at, mistake.place, `${mistake.reason} ${mistake.remedy}`].filter(Boolean).join(': ');
}

const ALIKE_MAX = 5;

/** Mistakes once each; of many that are alike in one file, the first few and how many more there are. */
export function condensed(mistakes: readonly Mistake[]): Mistake[] {
  const distinct = new Map(mistakes.map((mistake) => [toSentence(mistake), mistake]));
  const groups = Map.groupBy(distinct.values(), ({ file, reason }) => `${file}\n${reason}`);
  return [...groups.values()].flatMap((alike) => {
    const [first, ...others] = alike as [Mistake, ...Mistake[]];
    if (others.length < ALIKE_MAX) return alike;
    const more = others.length + 1 - ALIKE_MAX;
    const rest = { file: first.file, reason: `the same stands in ${more} more places.`, remedy: 'Correct them alike.' };
    return [...alike.slice(0, ALIKE_MAX), rest];
  });
}

/** The remedy for a name that does not resolve: the closest known name, or all of them. */
export function suggest(name: string, known: Iterable<string>): string {
  const names = [...known].sort();
  const likely = closest(name, names);
  if (likely !== undefined) return `Did you mean "${likely}"?`;
  if (names.length === 0) return 'None is defined.';
  const shown = names.slice(0, 12).join(', ');
  return `Use one of: ${shown}${names.length > 12 ? ', …' : ''}.`;
}

/** The known name of which another is most likely a misspelling. */
export function closest(name: string, known: readonly string[]): string | undefined {
  const best = known
    .map((candidate) => ({ candidate, distance: editDistance(name, candidate) }))
    .sort((a, b) => a.distance - b.distance)[0];
  return best && best.distance <= Math.max(2, Math.floor(name.length / 3)) ? best.candidate : undefined;
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
