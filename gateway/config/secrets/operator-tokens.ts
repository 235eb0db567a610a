// Reads the tokens of operators by their names, from the lines `<name> <look|act> <token>` of the secret `operator_tokens`.

type OperatorRole = 'look' | 'act';

export interface OperatorToken {
  /** The name in the audit log. */
  readonly name: string;
  readonly role: OperatorRole;
  readonly token: string;
}

const LINES_MAX = 200;
const TOKEN_LENGTH_MIN = 16;
/**
 * The form of the name of an operator. A name cannot equal another author in the audit log, such as a key id, a command, or a token without
 * a name.
 */
const NAME = /^[a-z][a-z0-9.-]{0,31}$/;

/** Parses the tokens. Skips blank lines, and lines that begin with `#`. For a malformed text, returns a sentence that contains no token. */
export function operatorTokensIn(text: string): readonly OperatorToken[] | string {
  const lines = text.split('\n').map((line) => line.trim());
  const operators: OperatorToken[] = [];
  for (const [index, line] of lines.entries()) {
    if (line === '' || line.startsWith('#')) continue;
    const [name = '', role = '', token = '', ...more] = line.split(/\s+/);
    const problem = problemOf({ name, role, token, more, known: operators });
    if (problem !== undefined) return `Line ${index + 1} of the secrets entry operator_tokens ${problem}`;
    operators.push({ name, role: role as OperatorRole, token });
  }
  if (operators.length > LINES_MAX) return `The secrets entry operator_tokens has more than ${LINES_MAX} operators.`;
  return operators;
}

interface Line {
  readonly name: string;
  readonly role: string;
  readonly token: string;
  readonly more: readonly string[];
  readonly known: readonly OperatorToken[];
}

function problemOf({ name, role, token, more, known }: Line): string | undefined {
  if (token === '' || more.length > 0) return 'is not "<name> <look|act> <token>".';
  if (!NAME.test(name)) return 'has a name of other characters than a-z, 0-9, . and -, or of more than 32.';
  if (role !== 'look' && role !== 'act') return 'says neither look nor act.';
  if (!/^[\x21-\x7e]+$/.test(token)) return 'has a token of other characters than visible ASCII.';
  if (token.length < TOKEN_LENGTH_MIN) return `has a token of fewer than ${TOKEN_LENGTH_MIN} characters.`;
  if (known.some((one) => one.name === name)) return 'has a name that an earlier line has.';
  if (known.some((one) => one.token === token)) return 'has a token that an earlier line has.';
  return undefined;
}
