import assert from 'node:assert/strict';
import { test } from 'node:test';
import { renderLine, renderMarkdown } from '../../../gateway/portal/markdown.ts';

test('headings below the first have anchors, and those of the second level are listed', () => {
  const { html, sections } = renderMarkdown('# Title\n\n## When `x` ends\n\n### Deeper\n');
  assert.match(html, /<h1>Title<\/h1>/);
  assert.match(html, /<h2 id="when-x-ends"><a class="anchor" href="#when-x-ends">When <code>x<\/code> ends<\/a><\/h2>/);
  assert.match(html, /<h3 id="deeper">/);
  assert.deepEqual(sections, [{ id: 'when-x-ends', text: 'When x ends' }]);
});

test('code and tables can be reached by keyboard, and have a name', () => {
  const { html } = renderMarkdown('```sh\ncurl <a> & b\n```\n\n| A | B |\n| - | - |\n| `1` | 2 |\n');
  assert.match(
    html,
    /role="group" aria-label="Shell" tabindex="0"><pre><code><span class="k">curl<\/span> &lt;a&gt; &amp; b<\/code><\/pre>/,
  );
  assert.match(html, /<th scope="col">A<\/th><th scope="col">B<\/th>/);
  assert.match(html, /<tr><td><code>1<\/code><\/td><td>2<\/td><\/tr>/);
});

test('HTML in a text is shown, never used', () => {
  const { html } = renderMarkdown(
    'a <script>alert(1)</script> b\n\n<div onclick="x">c</div>\n\n[d](/docs"onclick="x)\n',
  );
  assert.doesNotMatch(html, /<script|<div onclick|"onclick/);
  assert.match(html, /&lt;script&gt;/);
});

test('a link to a script is none, and neither is a picture', () => {
  const { html } = renderMarkdown(
    '[a](javascript:alert) [b](JaVaScRiPt:alert) [c](data:text/html,x) [d](/docs) [e](https://example.com) [f](#g) ![h](/i.png)',
  );
  const links = [...html.matchAll(/href="([^"]*)"/g)].map(([, link]) => link);
  assert.doesNotMatch(html, /<img/);
  assert.deepEqual(links, ['/docs', 'https://example.com', '#g']);
});

test('one line is no paragraph', () => {
  assert.equal(renderLine('See `a`.'), 'See <code>a</code>.');
});
