// Finds the ids in a Postman collection, by which later requests name the records that one request has made. A record is made by POST to a
// path, and named by that path with a parameter behind it.

/** The members of an operation that determine the records that it makes and names. */
interface RoutedOperation {
  readonly method: string;
  readonly path: string;
}

interface MadeId {
  /** Name of the variable that has the id. */
  readonly variable: string;
  /** The parameter of later paths; mostly also the member of the answer. */
  readonly parameter: string;
}

export interface PostmanIds {
  /** Returns the id that this operation creates. */
  madeBy(operation: RoutedOperation): MadeId | undefined;
  /** Returns the variable for each segment of the path that is a parameter. */
  variablesIn(path: string): readonly (string | undefined)[];
  /** Whether a member of a body with this name contains the id of such a record. */
  isVariable(name: string): boolean;
}

/** The variables that every collection has. */
const OWN = ['baseUrl', 'apiKey'];

export function postmanIds(operations: readonly RoutedOperation[]): PostmanIds {
  const made = new Set(operations.filter(({ method }) => method === 'POST').map(({ path }) => path));
  /** Path up to the parameter → the id. */
  const ids = new Map<string, MadeId>();
  const taken = new Set(OWN);
  for (const { path } of operations)
    for (const [before, parameter] of parametersIn(path)) {
      if (ids.has(`${before}/${parameter}`) || !made.has(before)) continue;
      const variable = freeName(taken, before, parameter);
      taken.add(variable);
      ids.set(`${before}/${parameter}`, { variable, parameter });
    }
  const byCollection = new Map([...ids].map(([place, id]) => [place.slice(0, place.lastIndexOf('/')), id]));

  return {
    madeBy: ({ method, path }) => (method === 'POST' ? byCollection.get(path) : undefined),
    variablesIn(path) {
      const found = new Map(
        parametersIn(path).map(([before, parameter]) => [before, ids.get(`${before}/${parameter}`)]),
      );
      const segments = path.split('/');
      return segments.map((_, index) => found.get(segments.slice(0, index).join('/'))?.variable);
    },
    isVariable: (name) => taken.has(name) && !OWN.includes(name),
  };
}

/** Returns the parameters that are a whole segment, each with the path before it. */
function parametersIn(path: string): [before: string, parameter: string][] {
  const segments = path.split('/');
  return segments.flatMap((segment, index) => {
    const [, parameter] = /^\{([^{}]+)\}$/.exec(segment) ?? [];
    return parameter === undefined ? [] : [[segments.slice(0, index).join('/'), parameter] as [string, string]];
  });
}

/** Returns the name of the parameter, with the name of the collection if several collections share it, such as `id`. */
function freeName(taken: ReadonlySet<string>, before: string, parameter: string): string {
  const plain = parameter.replace(/\W/g, '_');
  if (plain !== 'id' && !taken.has(plain)) return plain;
  const collection = before.slice(before.lastIndexOf('/') + 1).replace(/\W/g, '_');
  let name = `${collection}_${plain}`;
  for (let number = 2; taken.has(name); number += 1) name = `${collection}_${plain}_${number}`;
  return name;
}

/** Returns the script that Postman runs on the answer. */
export function keepIdScript({ variable, parameter }: MadeId): object {
  const exec = [
    '// Later requests ask for what this one has made.',
    'let body;',
    'try { body = pm.response.json(); } catch { /* no record */ }',
    'const record = Object(body?.data ?? body);',
    `const id = record[${JSON.stringify(parameter)}] ?? record.id ?? record.name;`,
    `if (pm.response.code < 300 && id !== undefined) pm.collectionVariables.set(${JSON.stringify(variable)}, String(id));`,
  ];
  return { listen: 'test', script: { type: 'text/javascript', exec } };
}
