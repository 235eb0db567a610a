// The path of a request that no operation has, as the log shows it.

const SEGMENTS_MAX = 8;
/** Words of paths; names, identifiers and keys are not like that. */
const WORD = /^\.?[a-z][a-z_.-]{0,23}$|^v\d{1,3}$/;

/** Returns the path with `{…}` in the place of each segment that may be a value: the log holds no values of clients. */
export function unmatchedPath(segments: readonly string[]): string {
  const shown = segments
    .slice(0, SEGMENTS_MAX)
    .map((segment) => (WORD.test(segment) || segment === '' ? segment : '{…}'));
  return `/${shown.join('/')}${segments.length > SEGMENTS_MAX ? '/…' : ''}`;
}
