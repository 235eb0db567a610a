// Serves the files of the page, from a fixed list, so that a URL cannot name another file. Their addresses contain a version, and browsers
// cache them.

import { readFile } from 'node:fs/promises';
import { type EncodedBody, encodeBody } from '../shared/http/content-coding.ts';
import { contentVersionIn, contentVersionOf, LASTING } from '../shared/http/content-version.ts';
import { LOOK_FILES } from '../shared/look/look-files.ts';
import { wordList } from '../shared/text.ts';

interface PageFile extends EncodedBody {
  readonly type: string;
  readonly cacheControl: string;
}

const HTML = 'text/html; charset=utf-8';
const JAVASCRIPT = 'text/javascript; charset=utf-8';
const CSS = 'text/css; charset=utf-8';

const SCRIPTS = wordList(
  'theme console api addresses views elements states format tables',
  'overview attention happened overview-tables tiles traffic-charts time-range copy-link subject subject-facts subject-tiles',
  'breakdown charts chart-drawing chart-kinds chart-table scale',
  'exchanges story next-steps slow-answer routes-view route-search search audit audit-events alerts configuration explain',
  'organizations system causes-about system-stores system-upstreams last-reload instance-versions system-table',
  'runbook actions action-dialog action-fields action-plan',
);

interface Source {
  readonly name: string;
  readonly type: string;
  read(): Promise<Buffer>;
}

const onPage = (name: string, type: string): Source => ({
  name,
  type,
  read: () => readFile(new URL(`./page/${name}`, import.meta.url)),
});

function lean({ name, type, read }: Source): Source {
  const form = type === CSS ? leanStyles : type === JAVASCRIPT ? leanForm : undefined;
  return form === undefined
    ? { name, type, read }
    : { name, type, read: async () => Buffer.from(form(String(await read()))) };
}

/** The page itself is not in the version, because it contains the version. */
const SOURCES: readonly Source[] = [
  onPage('console.css', CSS),
  onPage('icon.svg', 'image/svg+xml'),
  ...SCRIPTS.map((name) => onPage(`${name}.js`, JAVASCRIPT)),
  // The style sheet and the fonts of the documentation.
  ...LOOK_FILES,
].map(lean);
const FOLDER = '/console';

interface Contents {
  readonly version: string;
  readonly makes: ReadonlyMap<string, () => Promise<PageFile>>;
}

async function readAll(): Promise<Contents> {
  const files = await Promise.all(SOURCES.map(async ({ name, type, read }) => ({ name, type, body: await read() })));
  const version = contentVersionOf(files.map(({ body }) => body));
  const html = await readFile(new URL('./page/index.html', import.meta.url), 'utf8');
  const page = Buffer.from(removeIndentation(html).replaceAll(`="${FOLDER}/`, `="${FOLDER}/${version}/`));
  const makes = files.map(
    ({ name, type, body }) =>
      [`${FOLDER}/${name}`, once(async () => ({ type, cacheControl: LASTING, ...(await encodeBody(body)) }))] as const,
  );
  const makePage = once(async () => ({ type: HTML, cacheControl: 'no-store', ...(await encodeBody(page)) }));
  return { version, makes: new Map([['/', makePage], ...makes]) };
}

const contents = once(readAll);

/**
 * Returns a file. Resolves with undefined for an unknown path, and for a file of another version, because a page that was opened before an
 * update must not mix the two. All files are read at the first request, and each is compressed at its own first request.
 */
export async function pageFile(path: string): Promise<PageFile | undefined> {
  const { version, makes } = await contents();
  if (path === '/') return makes.get(path)?.();
  const versioned = contentVersionIn(path, FOLDER);
  return versioned?.version === version ? makes.get(versioned.path)?.() : undefined;
}

/** Caches the result of a function. A failure is not cached, so the next request tries again. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make().catch((error: unknown) => {
      made = undefined;
      throw error;
    });
    return made;
  };
}

/**
 * Removes comments, indentation and the ends of lines after a bracket, a comma or a semicolon, which browsers do not need. Only comments on
 * separate lines are removed, because without a parser, a comment after code looks like the text of a string or a pattern.
 */
export function leanForm(text: string): string {
  const code = text.replace(/^[ \t]*(?:\/\*[\s\S]*?\*\/|\/\/.*)[ \t]*\n/gm, '').replace(/\n{2,}/g, '\n');
  return removeIndentation(code).replace(/([{,([;])\n/g, '$1');
}

/** Removes the comments of a style sheet, and the white space that separates nothing. */
export function leanStyles(text: string): string {
  return leanForm(text)
    .replace(/\s*([{};])\s*/g, '$1')
    .replace(/([:,])\s+/g, '$1')
    .replaceAll(';}', '}');
}

/** Removes the indentation. No text of the page spans several lines. */
function removeIndentation(text: string): string {
  return text.replace(/^[ \t]+/gm, '');
}
