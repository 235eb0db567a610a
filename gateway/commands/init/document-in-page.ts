// Finds the OpenAPI document of a page that shows it, such as Swagger UI, Redoc or Scalar. The page contains the document, names its URL,
// or loads a script or a configuration that does so. Pure.

/** Links of a page that may lead to the document. A page has few of them. */
const LINKS_MAX = 8;

/** The forms in which pages name the URL of the document, or of a file that names it. */
const LINK_FORMS = [
  // Redoc, RapiDoc, Scalar, Stoplight Elements.
  /\b(?:spec-url|data-url|apiDescriptionUrl)\s*=\s*["']([^"']+)["']/g,
  /\bRedoc\.init\(\s*["']([^"']+)["']/g,
  // Swagger UI with its configuration, and Scalar with a script.
  /["']?\b(?:configUrl|url|spec_url|specUrl)["']?\s*:\s*["']([^"']+)["']/g,
  /<script\b[^>]*\bsrc\s*=\s*["']?([^"'\s>]*(?:init|config)[^"'\s>]*\.js)\b/gi,
];

/** Returns the URLs, on the host of the page, that may lead to the document. Examples of other hosts are in pages that are not set up. */
export function linksIn(page: string, url: URL): URL[] {
  const text = page.replaceAll('\\/', '/').replaceAll('&amp;', '&').replaceAll('&quot;', '"');
  const written = LINK_FORMS.flatMap((form) => [...text.matchAll(form)].map(([, link]) => link as string));
  return [...new Set(written)]
    .flatMap((link) => URL.parse(link, url.href) ?? [])
    .filter(({ origin, href }) => origin === url.origin && href !== url.href)
    .slice(0, LINKS_MAX);
}

/** What precedes a document inside of a page: swagger-ui-express, a page of Redoc, Scalar. */
const EMBEDDED = /"swaggerDoc"\s*:\s*|"spec"\s*:\s*\{\s*"data"\s*:\s*|<script\b[^>]*type="application\/json"[^>]*>\s*/g;

/** Returns the text of the document that a page contains; undefined if there is none. */
export function embeddedIn(page: string): string | undefined {
  for (const { 0: before, index } of page.matchAll(EMBEDDED)) {
    const object = objectFrom(page, index + before.length);
    if (object !== undefined && /^\{\s*"(?:[^"\\]|\\.)*"/.test(object) && /"(?:openapi|swagger)"\s*:/.test(object))
      return object;
  }
  return undefined;
}

/** Returns the text of the JSON object that begins at `start`; undefined if there is none. */
function objectFrom(text: string, start: number): string | undefined {
  if (text[start] !== '{') return undefined;
  let depth = 0;
  for (const { 0: token, index } of text.slice(start).matchAll(/"(?:[^"\\]|\\.)*"|[{}]/g)) {
    if (token === '{') depth += 1;
    else if (token === '}') depth -= 1;
    if (depth === 0) return text.slice(start, start + index + 1);
  }
  return undefined;
}
