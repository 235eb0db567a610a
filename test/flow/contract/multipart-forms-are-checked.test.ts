import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { type ForeignGateway, serveForeign } from './foreign-gateway.ts';

const schema = {
  type: 'object',
  required: ['file', 'purpose'],
  additionalProperties: false,
  properties: {
    file: { type: 'string', format: 'binary', minLength: 2, maxLength: 1000 },
    purpose: { type: 'string', enum: ['logo', 'icon'] },
    count: { type: 'integer' },
    tags: { type: 'array', items: { type: 'string', maxLength: 5 } },
    extra: {
      type: 'array',
      items: { type: 'string', contentMediaType: 'application/octet-stream' },
      uniqueItems: true,
    },
    image: { type: 'string', contentMediaType: 'image/png' },
    avatar: { type: 'string', format: 'binary' },
    details: {
      type: 'object',
      additionalProperties: false,
      required: ['title'],
      properties: { title: { type: 'string', maxLength: 5 }, pages: { type: 'integer' } },
    },
    log: { type: 'string' },
  },
};
const operation = (operationId: string, of: object, encoding: object = {}) => ({
  post: {
    operationId,
    requestBody: { required: true, content: { 'multipart/form-data': { schema: of, encoding } } },
    responses: { 200: { description: 'Done.' } },
  },
});
const document = {
  openapi: '3.1.0',
  info: { title: 'Files', version: '1' },
  paths: {
    '/files': operation('createFile', schema, {
      avatar: {
        contentType: 'image/png, image/jpeg',
        headers: { 'X-Width': { required: true, schema: { type: 'integer', maximum: 100 } } },
      },
    }),
    '/open': operation('createOpen', { type: 'object' }),
    '/pictures': operation('createPicture', {
      type: 'object',
      properties: { picture: { type: 'string', format: 'uri' }, kind: { enum: ['a', 'b'] } },
    }),
  },
};

const boundary = 'frontier';
const type = `multipart/form-data; boundary=${boundary}`;
const part = (headers: string, content: string) => `--${boundary}\r\n${headers}\r\n\r\n${content}\r\n`;
const field = (name: string, content: string, more = '') =>
  part(`Content-Disposition: form-data; name="${name}"${more}`, content);
const file = (name: string, content: string, mediaType = 'application/pdf', more = '') =>
  field(name, content, `; filename="a.pdf"\r\nContent-Type: ${mediaType}${more}`);
const end = `--${boundary}--\r\n`;
const whole = `${file('file', 'abc')}${field('purpose', 'logo')}`;

describe('a form in several parts', () => {
  let foreign: ForeignGateway;
  before(async () => {
    foreign = await serveForeign(document);
  });
  after(() => foreign.stop());
  const post = (body: unknown, path = '/files', contentType = type) =>
    foreign.send('POST', path, { body, type: contentType });

  async function violations(parts: string, expected: readonly string[]): Promise<void> {
    const answer = await post(parts + end);
    assert.deepEqual([answer.status, answer.violations], [400, [...expected].sort()], parts);
    assert.equal(answer.reached, undefined);
  }

  async function passes(body: string, path = '/files'): Promise<void> {
    const answer = await post(body, path);
    assert.deepEqual([answer.code, answer.violations, answer.status], [undefined, undefined, 200], body);
    assert.equal(answer.reached?.body.toString(), body);
    assert.equal(answer.reached?.headers['content-type'], type);
  }

  it('passes with its own bytes', async () => {
    for (const parts of [
      whole,
      `${field('file', 'without a name')}${field('purpose', 'icon')}`,
      `${whole}${field('count', '12')}${field('tags', 'a')}${field('tags', 'b')}`,
      `${whole}${field('tags[]', 'a')}${field('tags[]', 'b')}`,
      `${whole}${file('extra', '1')}${file('extra', '1')}`,
      `${whole}${file('image', 'x', 'image/png')}`,
      `${whole}${file('avatar', 'x', 'IMAGE/JPEG', '\r\nX-Width: 7')}`,
      `${whole}${field('details', '{"title":"abc","pages":1}')}`,
      `${whole}${field('details', '{"title":"abc"}', '; filename="blob"\r\nContent-Type: application/json')}`,
      `${whole}${field('details[title]', 'abc')}`,
      `${whole}${file('log', '\r\n--frontie\r\n\n', 'text/plain')}`,
    ])
      await passes(parts + end);
    await passes(`\r\n${whole}--${boundary}--`);
    await passes(`${field('a', '1')}${field('a', '2')}${file('b', '')}${end}`, '/open');
    await passes(end, '/open');
  });

  it('is refused with all violations at once, at their places', async () => {
    await violations('', ['body /file required', 'body /purpose required']);
    await violations(
      `${file('file', 'a')}${field('purpose', 'photo')}${field('count', 'x')}${field('tags', '1')}${field('tags', '123456')}${field('none', '')}`,
      [
        'body /file too_short',
        'body /purpose not_allowed',
        'body /count wrong_type',
        'body /tags/1 too_long',
        'body /none unknown',
      ],
    );
    await violations(`${file('file', 'x'.repeat(1001))}${field('purpose', 'logo')}`, ['body /file too_long']);
    await violations(`${whole}${field('details', '{"title":"abcdef","pages":"1"}')}`, [
      'body /details/title too_long',
      'body /details/pages wrong_type',
    ]);
    await violations(`${whole}${field('details', 'no JSON')}`, ['body /details wrong_type']);
  });

  it('has the declared media types and headers in its parts', async () => {
    await violations(`${whole}${file('image', 'x', 'image/gif')}`, ['body /image not_allowed']);
    await violations(`${whole}${file('avatar', 'x', 'image/gif', '\r\nX-Width: 7')}`, ['body /avatar not_allowed']);
    await violations(`${whole}${field('avatar', 'x', '; filename="a"\r\nX-Width: 7')}`, ['body /avatar not_allowed']);
    await violations(`${whole}${file('avatar', 'x', 'image/png')}`, ['body /avatar required']);
    await violations(`${whole}${file('avatar', 'x', 'image/png', '\r\nX-Width: 101')}`, ['body /avatar invalid']);
    await violations(`${whole}${field('log', 'x', '\r\nContent-Type: text/plain; charset=utf-16')}`, [
      'body /log wrong_format',
    ]);
  });

  it('has each part once where the contract has no list', async () => {
    await violations(`${whole}${field('purpose', 'logo')}`, ['body /purpose duplicate']);
    await violations(`${whole}${file('file', 'abc')}`, ['body /file duplicate']);
    await violations(`${whole}${field('_method', 'DELETE')}`, ['body /_method unknown']);
  });

  it('is refused if it can be read in more than one way', async () => {
    const name = 'Content-Disposition: form-data; name="a"';
    for (const body of [
      '',
      'x',
      whole,
      `${whole}--${boundary}`,
      `${whole}--${boundary}-`,
      `${whole}${end}x`,
      `${whole}${end}${end}`,
      `x\r\n${whole}${end}`,
      `${whole}--${boundary} \r\n${field('a', '1')}${end}`,
      `${whole}--${boundary}x\r\n${field('a', '1')}${end}`,
      `${field('a', `1\n--${boundary}\n`)}${end}`,
      `${field('a', `1\r--${boundary}--`)}${end}`,
      `${field('a', `x--${boundary}`)}${end}`,
      `--${boundary}\r\n${name}\r\n\r\n--${boundary}--\r\n`,
      `--${boundary}\n${name}\n\n1\n--${boundary}--\n`,
      part('', '1') + end,
      part('Content-Type: text/plain', '1') + end,
      part('Content-Disposition: attachment; name="a"', '1') + end,
      part('Content-Disposition: form-data', '1') + end,
      part('Content-Disposition: form-data; name=a b', '1') + end,
      part('Content-Disposition: form-data; name="a"; name="b"', '1') + end,
      part('Content-Disposition: form-data; name="a"; NAME="b"', '1') + end,
      part('Content-Disposition: form-data; name="a\\"b"', '1') + end,
      part('Content-Disposition: form-data; name="a"b"', '1') + end,
      part('Content-Disposition: form-data; name*=utf-8\'\'a; name="a"', '1') + end,
      part('Content-Disposition: form-data; name="a"; filename="b"; filename*=UTF-8\'\'c', '1') + end,
      part('Content-Disposition: form-data; name="a"; filename="../b"', '1') + end,
      part('Content-Disposition: form-data; name="a"; filename="/etc/b"', '1') + end,
      part('Content-Disposition: form-data; name="a"; filename="..\\b"', '1') + end,
      part(`${name}\r\n${name}`, '1') + end,
      part(`${name}\r\n Content-Type: text/plain`, '1') + end,
      part(`${name}\r\nX : y`, '1') + end,
      part(`${name}\r\nno colon`, '1') + end,
      part(`${name}\nX: y`, '1') + end,
      part(`${name}\rX: y`, '1') + end,
      part(`${name}\r\nX: \0`, '1') + end,
      part(`${name}\r\nContent-Transfer-Encoding: base64`, 'MQ==') + end,
      part(`${name}\r\nX: ${'y'.repeat(8200)}`, '1') + end,
      part(`${name}${Array.from({ length: 32 }, (_, i) => `\r\nX-${i}: y`).join('')}`, '1') + end,
    ]) {
      const answer = await post(body, '/open');
      const expected = body === '' ? 'body_missing' : 'malformed_form';
      assert.deepEqual([answer.code, answer.reached], [expected, undefined], JSON.stringify(body.slice(0, 300)));
    }
    const latin = Buffer.from(`${part('Content-Disposition: form-data; name="\xe4"', '1')}${end}`, 'latin1');
    assert.equal((await post(latin, '/open')).code, 'malformed_form');
    const charset = await post(`${field('_charset_', 'iso-8859-1')}${end}`, '/open');
    assert.equal(charset.code, 'unsupported_charset');
  });

  it('accepts files for every format of their schema', async () => {
    const image = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0xff, 0x00]);
    const form = new FormData();
    form.append('picture', new Blob([image], { type: 'image/png' }), 'a.png');
    const sent = await foreign.send('POST', '/pictures', { body: form });
    assert.deepEqual([sent.status, sent.violations], [200, undefined]);
    assert.ok(sent.reached?.body.includes(image));
    const text = (value: string) => post(field('picture', value) + end, '/pictures');
    assert.equal((await text('https://example.com/a.png')).status, 200);
    assert.deepEqual((await text('no address')).violations, ['body /picture wrong_format']);
    const named = await post(file('kind', 'other') + end, '/pictures');
    assert.deepEqual(named.violations, ['body /kind not_allowed'], 'a file name does not hide a text from its enum');
  });

  it('has no forms in its parts, whose file names nothing would check', async () => {
    const inner = '--y\r\nContent-Disposition: file; filename="../../etc/cron.d/x"\r\n\r\n* * * * *\r\n--y--\r\n';
    for (const contentType of [
      'multipart/mixed; boundary=y',
      'Multipart/Mixed; boundary="y"',
      'multipart/form-data;boundary=y',
      ' \tmultipart/x; boundary=y',
      '"multipart/mixed"; boundary=y',
      'multipart /mixed; boundary=y',
      'multipart"/mixed; boundary=y',
      'text/plain, multipart/mixed; boundary=y',
    ])
      for (const [path, parts] of [
        ['/open', part(`Content-Disposition: form-data; name="a"\r\nContent-Type: ${contentType}`, inner)],
        ['/files', whole + part(`Content-Disposition: form-data; name="extra"\r\nContent-Type: ${contentType}`, inner)],
        ['/open', part(`Content-Type: ${contentType}\r\nContent-Disposition: form-data; name=a; filename=b`, inner)],
      ] as const) {
        const answer = await post(parts + end, path);
        assert.deepEqual([answer.code, answer.reached], ['malformed_form', undefined], contentType);
      }
    await passes(field('a', inner) + end, '/open');
  });

  it('has one boundary in its media type', async () => {
    for (const parameters of [
      ...['', '; boundary=', '; boundary="a\\b"', '; boundary="a "', `; boundary=${'x'.repeat(71)}`],
      ...['; boundary=a; boundary=b', '; boundary=a; BOUNDARY=b', "; boundary*=utf-8''a"],
    ]) {
      const answer = await post(field('a', '1') + end, '/open', `multipart/form-data${parameters}`);
      assert.equal(answer.code, 'malformed_form', parameters);
    }
    const quoted = `--a b\r\nContent-Disposition: form-data; name=a\r\n\r\n\r\n--a b--`;
    assert.equal((await post(quoted, '/open', 'Multipart/Form-Data; charset=utf-8; boundary="a b"')).status, 200);
    assert.equal((await post(end, '/open', `${type}; charset=latin1`)).code, 'unsupported_charset');
  });

  it('is sent as fetch sends it', async () => {
    const form = new FormData();
    form.append('file', new Blob([Buffer.from([0, 13, 10, 45, 45, 255])]), 'Grüße "1".pdf');
    form.append('purpose', 'logo');
    form.append('details', new Blob(['{"title":"ü"}'], { type: 'application/json' }));
    form.append('tags', 'a\nb');
    const sent = await foreign.send('POST', '/files', { body: form });
    assert.deepEqual([sent.status, sent.violations], [200, undefined]);
    assert.match(String(sent.reached?.headers['content-type']), /^multipart\/form-data; boundary=/);

    form.append('count', 'many');
    const refused = await foreign.send('POST', '/files', { body: form });
    assert.deepEqual(refused.violations, ['body /count wrong_type']);
  });

  it('is sent as curl sends it', async (context) => {
    const { authorization } = await foreign.gateway.authorize({ scopes: ['foreign:write'] });
    const parts = ['file=@-;filename=a.bin', 'purpose=icon', 'details={"title":"a"};type=application/json'];
    const curl = promisify(execFile)('curl', [
      ...['-s', '-H', `Authorization: ${authorization}`, '-w', '%{http_code}'],
      ...parts.flatMap((one) => ['-F', one]),
      `${foreign.gateway.url}/files`,
    ]);
    curl.child.stdin?.on('error', () => undefined).end('some bytes');
    const output = await curl.catch((error) =>
      error.code === 'ENOENT' ? context.skip('curl is not installed') : Promise.reject(error),
    );
    if (output) assert.equal(output.stdout, '{}200');
  });
});
