// The frame of all pages, which works without JavaScript, by keyboard, at any width, in light and dark mode.

import { escapeHtml } from './html.ts';

export interface Page {
  /** The path of the page. Its Markdown is at the same path with `.md`. */
  readonly path: string;
  readonly title: string;
  /** The description for search engines and previews, in plain text. */
  readonly description: string;
  /** The path of its section, which the navigation marks as current. */
  readonly section: string;
  /** HTML. */
  readonly main: string;
  /** The page in Markdown; empty if there is none. */
  readonly markdown: string;
  /** The links beside the text, in HTML, to all pages of the section. */
  readonly contents?: string;
  /** Links to the headings of the page, in HTML. */
  readonly onThisPage?: string;
  readonly scripts?: readonly string[];
  readonly styles?: readonly string[];
  /** The path of a feed of the page. */
  readonly feed?: string;
  /** Whether the page has its own field for a key, and therefore no bar for a test key, which would mislead. */
  readonly hasOwnKey?: boolean;
  /** Uses the full width of the window. */
  readonly isWide?: boolean;
  /** When the source of the page changed last, in epoch milliseconds. */
  readonly updatedMs?: number | undefined;
}

/** The parts that all pages of one configuration have. */
export interface Frame {
  readonly title: string;
  /** The folder of scripts, styles and fonts, with their version. */
  readonly assets: string;
  /** The path of the logo of the configuration; undefined if the mark replaces it. */
  readonly logo: string | undefined;
  /** SVG. */
  readonly mark: string;
  /** The parts of the documentation, in the order of their links. */
  readonly sections: readonly (readonly [path: string, text: string])[];
  /** The bar for the reader's test key; undefined if no operation accepts test keys. */
  readonly keyBar: { readonly probe: string | undefined } | undefined;
  readonly help: HelpLinks;
}

/** The links to help; a link is undefined if the configuration does not name it. */
export interface HelpLinks {
  /** An address of the web or a `mailto:`. */
  readonly contact: string | undefined;
  readonly status: string | undefined;
}

export function layOut(page: Page, frame: Frame): string {
  const scripts = ['portal.js', ...(page.scripts ?? [])].map(
    (name) => `<script src="${frame.assets}/${name}" type="module"></script>`,
  );
  const styles = ['look.css', 'portal.css', ...(page.styles ?? []), 'theme.css'].map(
    (name) => `<link rel="stylesheet" href="${frame.assets}/${name}">`,
  );
  const isStart = page.section === page.path && page.section === '/docs';
  const title = isStart || page.title === frame.title ? frame.title : `${page.title} · ${frame.title}`;
  const shape = [page.contents === undefined ? 'bare' : 'with-contents', page.isWide ? 'wide' : ''].join(' ').trim();
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<meta name="description" content="${escapeHtml(page.description)}">
<link rel="icon" href="${frame.logo ?? `${frame.assets}/icon.svg`}">
${page.markdown === '' ? '' : `<link rel="alternate" type="text/markdown" href="${escapeHtml(page.path)}.md">\n`}${page.feed === undefined ? '' : `<link rel="alternate" type="application/atom+xml" href="${page.feed}" title="${escapeHtml(title)}">\n`}<link rel="preload" href="${frame.assets}/text.woff2" as="font" type="font/woff2" crossorigin>
<script src="${frame.assets}/theme-first.js"></script>
${styles.join('\n')}
${scripts.join('\n')}
</head>
<body>
<a class="skip" href="#main">Skip to the text</a>
${header(page, frame)}
<div class="frame ${shape}">
${contentsOf(page)}
<main id="main" tabindex="-1">
${page.main}
${footOf(page, frame.help)}
</main>
${page.onThisPage === undefined ? '' : `<nav class="on-page" aria-label="On this page">${page.onThisPage}</nav>`}
</div>
</body>
</html>
`;
}

function header(page: Page, { title, logo, mark, sections, keyBar }: Frame): string {
  const links = sections.map(([path, text]) => {
    const current = path === page.section ? ' aria-current="true"' : '';
    return `<li><a href="${path}"${current}>${text}</a></li>`;
  });
  const sign = logo === undefined ? mark : `<img class="logo" src="${logo}" alt="" height="24">`;
  return `<header class="top">
<div class="head-bar">
<a class="brand" href="/docs">${sign}<span>${escapeHtml(title)}</span></a>
<search class="search needs-script">
<input id="search" type="search" placeholder="Search" aria-label="Search the documentation" autocomplete="off" spellcheck="false"
 role="combobox" aria-expanded="false" aria-controls="found" aria-autocomplete="list" aria-keyshortcuts="/ Control+K Meta+K">
<kbd aria-hidden="true">/</kbd>
<div id="found" class="found" role="listbox" aria-label="Results" hidden></div>
<p id="found-count" class="quiet" role="status"></p>
</search>
${page.hasOwnKey || keyBar === undefined ? '' : keyBarHtml(keyBar.probe)}
<button type="button" id="theme" class="theme needs-script" aria-label="Switch colours"><svg viewBox="0 0 20 20" aria-hidden="true"><circle cx="10" cy="10" r="7" fill="none" stroke="currentColor" stroke-width="1.6"/><path d="M10 3a7 7 0 0 1 0 14z" fill="currentColor"/></svg></button>
</div>
<nav class="sections" aria-label="Documentation"><ul>${links.join('')}</ul></nav>
</header>`;
}

/** Returns the bar for a key. A script inserts the key into samples and requests. The form sends nothing, and the field has no name. */
function keyBarHtml(probe: string | undefined): string {
  const probed = probe === undefined ? '' : ` data-probe="${escapeHtml(probe)}"`;
  return `<form id="key-bar" class="key-bar needs-script"${probed} autocomplete="off">
<label for="key" class="quiet">Your test key</label>
<input id="key" type="password" autocomplete="off" autocapitalize="off" spellcheck="false" placeholder="Paste a test key" aria-describedby="key-note"
 title="It fills the samples, stays in this tab, and is sent to this API only.">
<span class="key-shown"><span class="key">YOUR_API_KEY</span></span>
<button type="button" id="forget-key" hidden>Forget</button>
<p id="key-note" role="status"></p>
</form>`;
}

/** Returns the links of the section. In narrow windows, they cover the page while they are the target of the address. */
function contentsOf(page: Page): string {
  if (page.contents === undefined) return '';
  return `<nav class="open-contents" aria-label="To the contents"><a href="#contents">Contents</a></nav>
<nav id="contents" class="contents" aria-label="Contents" tabindex="-1">
<p class="close-contents"><a href="#main">Close</a></p>
${page.contents}
</nav>`;
}

function footOf({ path, markdown, updatedMs }: Page, { contact, status }: HelpLinks): string {
  const date = updatedMs === undefined ? undefined : new Date(updatedMs);
  const updated = date
    ? `<span>Last updated <time datetime="${date.toISOString()}">${shownDay(date)}</time></span>`
    : '<span></span>';
  const links = [
    ...(status === undefined ? [] : [`<a href="${escapeHtml(status)}" rel="noreferrer">Status</a>`]),
    ...(contact === undefined ? [] : [`<a href="${escapeHtml(contact)}" rel="noreferrer" data-contact>Contact</a>`]),
    ...(markdown === ''
      ? []
      : [
          `<a href="${escapeHtml(path)}.md">This page as Markdown</a><button type="button" class="copy-page" hidden>Copy it</button>`,
        ]),
  ];
  return `<footer class="foot">${updated}<span class="foot-links">${links.join('')}</span></footer>`;
}

let days: Intl.DateTimeFormat | undefined;

/** Returns a day such as `3 March 2026`. */
export function shownDay(date: Date): string {
  // This reads the tables of a language, so it does not happen while the gateway starts.
  days ??= new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' });
  return days.format(date);
}

/** Returns a list of links in which the current page is marked. */
export function linkList(
  title: string,
  links: readonly (readonly [href: string, text: string])[],
  current = '',
): string {
  const items = links.map(([href, text]) => {
    const mark = href === current ? ' aria-current="page"' : '';
    return `<li><a href="${escapeHtml(href)}"${mark}>${escapeHtml(text)}</a></li>`;
  });
  return `<p class="contents-title">${escapeHtml(title)}</p><ul>${items.join('')}</ul>`;
}

/** Returns the links to the pages before and after a page. */
export function neighbourLinks(before: NeighbourLink | undefined, after: NeighbourLink | undefined): string {
  const link = (to: NeighbourLink | undefined, label: string) =>
    to === undefined
      ? '<span></span>'
      : `<a href="${escapeHtml(to.path)}"><span>${label}</span> ${escapeHtml(to.title)}</a>`;
  return `<nav class="neighbours" aria-label="Neighbours">${link(before, 'Previous')}${link(after, 'Next')}</nav>`;
}

interface NeighbourLink {
  readonly path: string;
  readonly title: string;
}
