// Pure: where a reader may have wanted to go whose address leads nowhere.

const NEAREST_MAX = 5;
const ALIKE_MIN = 4;

/** Returns the pages beside it that begin alike, and the nearest page above it. */
export function nearestPages(path: string, all: readonly string[]): string[] {
  const pages = new Set(all.filter((one) => /^\/docs(\/[^.]*)?$/.test(one) && !one.startsWith('/docs/assets')));
  const name = nameIn(path);
  const beside = [...pages]
    .map((page) => ({ page, alike: lengthAlike(nameIn(page), name) }))
    .filter(({ alike }) => alike >= ALIKE_MIN)
    .sort((one, other) => other.alike - one.alike)
    .map(({ page }) => page);
  let above = path;
  while (!pages.has(above) && above !== '') above = above.slice(0, above.lastIndexOf('/'));
  return [...new Set([...beside.slice(0, NEAREST_MAX - 1), above || '/docs'])];
}

function nameIn(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1).toLowerCase();
}

/** How many letters both begin with. */
function lengthAlike(one: string, other: string): number {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length += 1;
  return length;
}
