// Pure: a recorded change in the words of readers. The record says `query parameter "limit": it is new`, as the comparison has a place for each
// finding; the page says `limit`, query parameter: added.

interface Subject {
  /** A parameter, a header, or the path of a field; undefined if the change concerns a whole operation, body or response. */
  readonly name: string | undefined;
  readonly kind: string;
}

export interface ChangeWords extends Subject {
  readonly what: string;
  /** What only few readers want to see, such as a pattern. */
  readonly detail: string | undefined;
}

const PARAMETER = /^(path|query|header|cookie) parameter "(.*)"$/s;
const RESPONSE_HEADER = /^answer (\S+), header (.+)$/s;
/** A body with a media type, and the path of a field in it. */
const BODY = /^(request body|answer (\S+))(?: ([^/ ]+\/[^/ ]+)(?:\/(.+))?)?$/s;

/** @param text of a `PublishedChange` */
export function changeWords(text: string): ChangeWords {
  const [, place = '', what = text] = /^([^:]{1,200}): (.+)$/s.exec(text) ?? [];
  const subject = subjectOf(place);
  const short = shortened(what);
  if (short !== undefined) return { ...subject, kind: subject.kind || 'operation', what: short, detail: undefined };
  return { ...subject, ...keywordWords(what) };
}

function subjectOf(place: string): Subject {
  const [, where, parameter] = PARAMETER.exec(place) ?? [];
  if (where !== undefined) return { name: parameter, kind: `${where} parameter` };
  const [, headerStatus, header] = RESPONSE_HEADER.exec(place) ?? [];
  if (headerStatus !== undefined) return { name: header, kind: `header of response ${headerStatus}` };
  const [, body, status, type, path] = BODY.exec(place) ?? [];
  if (body === undefined) return { name: undefined, kind: place };
  const owner = status === undefined ? body : `response ${status}`;
  const name = path
    ?.replace(/\/(anyOf|oneOf)$/, '')
    .replaceAll('/[]', '[]')
    .replaceAll('/', '.');
  if (name === undefined) return { name, kind: type === undefined ? owner : `${owner} as ${type}` };
  return { name, kind: `in ${status === undefined ? 'the ' : ''}${owner}` };
}

/** What happened, in a word or two; undefined if it takes a sentence. */
function shortened(what: string): string | undefined {
  const [, now] = /^it is (required|optional) now$/.exec(what) ?? [];
  if (now !== undefined) return `now ${now}`;
  const [, did] =
    /^(?:it|the property|this media type|the operation) (is new|is new and required|was removed)$/.exec(what) ?? [];
  return did && { 'is new': 'added', 'is new and required': 'added, required', 'was removed': 'removed' }[did];
}

const BOUNDS: Readonly<Record<string, readonly [phrase: string, unit: string]>> = {
  minimum: ['at least', ''],
  exclusiveMinimum: ['more than', ''],
  maximum: ['at most', ''],
  exclusiveMaximum: ['less than', ''],
  multipleOf: ['a multiple of', ''],
  minLength: ['at least', 'character'],
  maxLength: ['at most', 'character'],
  minItems: ['at least', 'item'],
  maxItems: ['at most', 'item'],
  minProperties: ['at least', 'field'],
  maxProperties: ['at most', 'field'],
};

/** A keyword of a schema that went from one value to another. Conditions are schemas, which a line cannot show. */
function keywordWords(what: string): { what: string; detail: string | undefined } {
  const [, keyword = '', from = '', to = ''] = /^(?:the )?(\w+) goes from (.+) to (.+)$/s.exec(what) ?? [];
  const bound = BOUNDS[keyword];
  if (bound !== undefined) return { what: boundWords(bound, from, to), detail: undefined };
  if (keyword === 'pattern') return patternWords(from, to);
  if (/^(type|format)$/.test(keyword))
    return {
      what: from === 'none' ? `${keyword} now ${to}` : `${keyword} changed from ${from} to ${to}`,
      detail: undefined,
    };
  return { what: keyword === '' ? what : 'the conditions changed', detail: undefined };
}

function boundWords([phrase, unit]: readonly [string, string], from: string, to: string): string {
  const told = (value: string) => `${phrase} ${value}${unit && ` ${unit}${value === '1' ? '' : 's'}`}`;
  if (to === 'none') return `no longer ${told(from)}`;
  return from === 'none' ? `now ${told(to)}` : `now ${told(to)}, before ${told(from)}`;
}

function patternWords(from: string, to: string): { what: string; detail: string } {
  if (from === 'none') return { what: 'has a stricter form', detail: to };
  if (to === 'none') return { what: 'may have any form', detail: from };
  return { what: 'has another form', detail: `${from} → ${to}` };
}
