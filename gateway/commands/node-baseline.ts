// The oldest release of this Node line without known security holes. To raise it, change this one line.

export const NODE_BASELINE = '24.21.0';

/** Returns a sentence for operators if this Node is older than the baseline of the same major version; undefined otherwise. */
export function belowBaseline(version: string): string | undefined {
  const [major, minor, patch] = numbersOf(version);
  const [line, baseMinor, basePatch] = numbersOf(NODE_BASELINE);
  const isOlder = minor < baseMinor || (minor === baseMinor && patch < basePatch);
  if (major !== line || !isOlder) return undefined;
  return `Node ${version} lacks security fixes: ${NODE_BASELINE} or newer has them.`;
}

function numbersOf(version: string): [number, number, number] {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map((part) => Number.parseInt(part, 10));
  return [major, minor, patch];
}
