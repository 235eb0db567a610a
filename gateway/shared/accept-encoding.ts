// Parses the codings that a client accepts (RFC 9110 section 12.5.3). Pure.

/** A qvalue: at most 1, with up to three decimals (RFC 9110 section 12.4.2). */
const WEIGHT = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/;

/** Former names that mean the same (RFC 9110 section 8.4.1). */
const aliases: Readonly<Record<string, string>> = { 'x-gzip': 'gzip', 'x-compress': 'compress' };

/**
 * Coding → weight between 0 and 1, in the order of the header. A weight that cannot be read is 0: such a coding is not acceptable.
 *
 * @param header all lines, joined by comma; undefined if there is none
 */
export function acceptedCodings(header: string | undefined): Map<string, number> {
  const weights = new Map<string, number>();
  for (const element of (header ?? '').toLowerCase().split(',')) {
    const [coding = '', ...parameters] = element.split(';').map((part) => part.trim());
    if (coding !== '') weights.set(aliases[coding] ?? coding, weightIn(parameters));
  }
  return weights;
}

function weightIn(parameters: readonly string[]): number {
  const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
  if (weight === undefined) return 1;
  return WEIGHT.test(weight) ? Number(weight) : 0;
}

/** The weight of a coding other than `identity`; 0: not acceptable. */
export function weightOf(weights: ReadonlyMap<string, number>, coding: string): number {
  return weights.get(coding) ?? weights.get('*') ?? 0;
}

/** Whether the client excludes an answer without a coding. */
export function refusesIdentity(weights: ReadonlyMap<string, number>): boolean {
  return (weights.get('identity') ?? weights.get('*')) === 0;
}
