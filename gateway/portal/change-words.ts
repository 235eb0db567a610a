// Pure: a recorded change in the words of readers. The record says `query parameter "limit": it is new`, as the comparison has a place for each
// finding; the page says `limit`, query parameter added.

interface ChangeWords {
  /** A parameter, a header, or the path of a field; undefined if the change concerns a whole operation, body or response. */
  readonly name: string | undefined;
  readonly rest: string;
}

interface Subject {
  readonly name: string | undefined;
  readonly kind: string;
}

const PARAMETER = /^(path|query|header|cookie) parameter "(.*)"$/s;
const RESPONSE_HEADER = /^answer (\S+), header (.+)$/s;
/** A body with a media type, and the path of a field in it. */
const BODY = /^(request body|answer (\S+))(?: ([^/ ]+\/[^/ ]+)(?:\/(.+))?)?$/s;

/** @param text of a `PublishedChange` */
export function changeWords(text: string): ChangeWords {
  const [, place = '', what = text] = /^([^:]{1,200}): (.+)$/s.exec(text) ?? [];
  const { name, kind } = subjectOf(place);
  const short = shortened(what);
  if (short === undefined)
    return { name, rest: kind === '' ? what : `${kind}: ${what.replace(' goes from ', ' changed from ')}` };
  return { name, rest: `${kind || 'operation'} ${short}` };
}

function subjectOf(place: string): Subject {
  const [, where, parameter] = PARAMETER.exec(place) ?? [];
  if (where !== undefined) return { name: parameter, kind: `${where} parameter` };
  const [, headerStatus, header] = RESPONSE_HEADER.exec(place) ?? [];
  if (headerStatus !== undefined) return { name: header, kind: `header of response ${headerStatus}` };
  const [, body, status, type, path] = BODY.exec(place) ?? [];
  if (body === undefined) return { name: undefined, kind: place };
  const owner = status === undefined ? body : `response ${status}`;
  if (path !== undefined)
    return { name: path.replaceAll('/', '.'), kind: `in ${status === undefined ? 'the ' : ''}${owner}` };
  return { name: undefined, kind: type === undefined ? owner : `${owner} as ${type}` };
}

/** What happened, in a word or two; undefined if it takes a sentence. */
function shortened(what: string): string | undefined {
  const [, now] = /^it is (required|optional) now$/.exec(what) ?? [];
  if (now !== undefined) return `now ${now}`;
  const [, did] =
    /^(?:it|the property|this media type|the operation) (is new|is new and required|was removed)$/.exec(what) ?? [];
  return did && { 'is new': 'added', 'is new and required': 'added, required', 'was removed': 'removed' }[did];
}
