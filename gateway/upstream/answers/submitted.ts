// What a client submitted, held against what an upstream says about it: where a value stands, and which texts would give a secret away.

/** A string or number of the request, and where it stands. */
interface Value {
  /** `emails[0]`, as in the param of validation_failed. */
  readonly place: string;
  readonly text: string;
  readonly isSecret: boolean;
  /** In a list of changes, what tells which change it is: `{"action": "set", "field": "members", "value": …}`. */
  readonly isName: boolean;
}

export interface Submitted {
  /** The place of the first string that is `named`, or an address at the domain of that name, whatever the case. */
  placeOf(named: string): string | undefined;
  /** Whether nothing that was submitted is in this text. */
  isFree(text: string): boolean;
  /** Whether no submitted secret is in this text, whole or for the most part. */
  isFreeOfSecrets(text: string): boolean;
}

/** Parts of a secret that are as long as this are kept from clients too: what quotes a secret may have escaped the rest of it. */
const TELLING_PART = /[\p{L}\p{M}\p{N}]{4,}/gu;

/**
 * `body`: the JSON value the client sent. `secretNames`: members that hold secrets. What stands in such a member is one, and so is what
 * stands beside the name of one, as in `{"field": "password", "value": "…"}`.
 */
export function submittedIn(body: unknown, pathValues: readonly string[], secretNames: ReadonlySet<string>): Submitted {
  const inBody = valuesIn(body, secretNames);
  const values = inBody.filter(({ isName }) => !isName).map(({ text }) => text);
  const texts = [...values, ...pathValues].filter((text) => text !== '').map(folded);
  const secrets = inBody.filter(({ isSecret, text }) => isSecret && text !== '').map(({ text }) => folded(text));
  const tellingParts = secrets.flatMap((secret) => [secret, ...(secret.match(TELLING_PART) ?? [])]);

  function placeOf(named: string): string | undefined {
    const wanted = folded(named);
    return inBody.find(({ place, text }) => {
      const candidate = folded(text);
      return place !== '' && (candidate === wanted || candidate.endsWith(`@${wanted}`));
    })?.place;
  }

  function isFreeOf(parts: readonly string[], text: string): boolean {
    const said = folded(text);
    return !parts.some((part) => said.includes(part));
  }

  return {
    placeOf,
    isFree: (text) => isFreeOf(texts, text) && isFreeOf(tellingParts, text),
    isFreeOfSecrets: (text) => isFreeOf(tellingParts, text),
  };
}

/** In the order of the text. The nesting was bounded when the body was read. */
function valuesIn(body: unknown, secretNames: ReadonlySet<string>): Value[] {
  const values: Value[] = [];

  function walk(value: unknown, place: string, isSecret: boolean, isName: boolean): void {
    if (typeof value === 'string' || typeof value === 'number') {
      values.push({ place, text: String(value), isSecret, isName });
    } else if (Array.isArray(value)) {
      for (const [index, item] of value.entries()) walk(item, `${place}[${index}]`, isSecret, isName);
    } else if (typeof value === 'object' && value !== null) {
      const namesSecret = Object.values(value).some((member) => typeof member === 'string' && secretNames.has(member));
      for (const [name, member] of Object.entries(value)) {
        const isNameOfSecret = typeof member === 'string' && secretNames.has(member);
        const secret = isSecret || secretNames.has(name) || (namesSecret && !isNameOfSecret);
        walk(
          member,
          place === '' ? name : `${place}.${name}`,
          secret,
          isName || ('value' in value && name !== 'value'),
        );
      }
    }
  }

  walk(body, '', false, false);
  return values;
}

/** Upper case and taken apart: lower case depends on what stands around (ς), composed characters too. */
function folded(text: string): string {
  return text.toUpperCase().normalize('NFKD').toUpperCase();
}
