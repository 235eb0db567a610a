// The frame of all pages: works without JavaScript, by keyboard, at any width, in light and dark mode.

import { escapeHtml } from './html.ts';

export interface Page {
  /** The path of the page. Its Markdown is at the same path with `.md`. */
  readonly path: string;
  readonly title: string;
  /** For search engines and previews; plain text. */
  readonly description: string;
  /** The path of its section, which the navigation marks as current. */
  readonly section: string;
  /** HTML. */
  readonly main: string;
  readonly markdown: string;
  /** Links beside the text, in HTML: those of the whole section. */
  readonly contents?: string;
  /** Links to the headings of the page, in HTML. */
  readonly onThisPage?: string;
  readonly scripts?: readonly string[];
  readonly styles?: readonly string[];
  /** Uses the full width of the window. */
  readonly isWide?: boolean;
  /** When its source changed last, epoch milliseconds. */
  readonly updatedMs?: number | undefined;
}

/** What all pages of one configuration have in common. */
export interface Frame {
  readonly title: string;
  readonly hasLogo: boolean;
  readonly hasGuides: boolean;
  readonly hasAccount: boolean;
}

export function layOut(page: Page, frame: Frame): string {
  const scripts = ['portal.js', ...(page.scripts ?? [])].map(
    (name) => `<script src="/docs/assets/${name}" type="module"></script>`,
  );
  const styles = ['portal.css', ...(page.styles ?? []), 'theme.css'].map(
    (name) => `<link rel="stylesheet" href="/docs/assets/${name}">`,
  );
  const isStart = page.section === page.path && page.section === '/docs';
  const title = isStart ? frame.title : `${page.title} · ${frame.title}`;
  const shape = [page.contents === undefined ? 'bare' : 'with-contents', page.isWide ? 'wide' : ''].join(' ').trim();
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<meta name="description" content="${escapeHtml(page.description)}">
<link rel="icon" href="/docs/assets/icon.svg" type="image/svg+xml">
<link rel="alternate" type="text/markdown" href="${escapeHtml(page.path)}.md">
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
${footOf(page)}
</main>
${page.onThisPage === undefined ? '' : `<nav class="on-page" aria-label="On this page">${page.onThisPage}</nav>`}
</div>
</body>
</html>
`;
}

function header(page: Page, frame: Frame): string {
  const sections = [
    ['/docs', 'Start'],
    ...(frame.hasGuides ? [['/docs/guides', 'Guides'] as const] : []),
    ['/docs/reference', 'Reference'],
    ['/docs/errors', 'Errors'],
    ...(frame.hasAccount ? [['/docs/account', 'Your account'] as const] : []),
  ] as const;
  const links = sections.map(([path, text]) => {
    const current = path === page.section ? ' aria-current="true"' : '';
    return `<li><a href="${path}"${current}>${text}</a></li>`;
  });
  const logo = frame.hasLogo
    ? '<img class="logo" src="/docs/assets/logo" alt="" height="24">'
    : '<span class="mark" aria-hidden="true"></span>';
  return `<header class="top">
<a class="brand" href="/docs">${logo}<span>${escapeHtml(frame.title)}</span></a>
<nav aria-label="Documentation"><ul>${links.join('')}</ul></nav>
<search class="search needs-script">
<input id="search" type="search" placeholder="Search" aria-label="Search the documentation" autocomplete="off" spellcheck="false"
 role="combobox" aria-expanded="false" aria-controls="found" aria-autocomplete="list" aria-keyshortcuts="/">
<kbd aria-hidden="true">/</kbd>
<div id="found" class="found" role="listbox" aria-label="Results" hidden></div>
<p id="found-count" class="quiet" role="status"></p>
</search>
</header>`;
}

/** On narrow windows the links cover the page while they are the target of the address. */
function contentsOf(page: Page): string {
  if (page.contents === undefined) return '';
  return `<p class="open-contents"><a href="#contents">Contents</a></p>
<nav id="contents" class="contents" aria-label="Contents" tabindex="-1">
<p class="close-contents"><a href="#main">Close</a></p>
${page.contents}
</nav>`;
}

function footOf({ path, updatedMs }: Page): string {
  const date = updatedMs === undefined ? undefined : new Date(updatedMs);
  const updated = date
    ? `<span>Last updated <time datetime="${date.toISOString()}">${shownDay(date)}</time></span>`
    : '<span></span>';
  return `<footer class="foot">${updated}<a href="${escapeHtml(path)}.md">This page as Markdown</a></footer>`;
}

let days: Intl.DateTimeFormat | undefined;

function shownDay(date: Date): string {
  // Reads the tables of a language: not while the gateway starts.
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
