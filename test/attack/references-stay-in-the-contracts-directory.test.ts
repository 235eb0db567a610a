// A document may come from a service that the operator does not own, and what it refers to is published. A reference leads to documents in
// the contracts directory and nowhere else, by the real path of the file, and stands only where OpenAPI has references.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { loadSettings } from '../../gateway/config/settings.ts';
import { type Configuration, loadConfiguration, reloadConfiguration } from '../../gateway/configuration.ts';
import { ConfigError, toSentence } from '../../gateway/shared/mistakes.ts';
import { writeConfiguration } from '../support/configuration.ts';
import { temporaryDirectory } from '../support/directory.ts';
import { startGateway } from '../support/gateway.ts';
import { runInProcess } from '../support/in-process.ts';
import { type FakeUpstream, startUpstream } from '../support/upstream.ts';

const SECRET = 'bm8gb25lIG1heSByZWFkIHRoaXM';
const root = temporaryDirectory();

/** What no document may read: as JSON, as YAML, as a schema, as text. */
const outside = join(root, 'outside');
const secretFiles = {
  'secret.json': JSON.stringify({ d: SECRET, schema: { type: 'object', description: SECRET } }),
  'secret.yaml': `${SECRET}: ${SECRET}\nschema: { type: object, description: ${SECRET} }\n`,
  'secret.txt': SECRET,
};
mkdirSync(outside);
for (const [name, text] of Object.entries(secretFiles)) writeFileSync(join(outside, name), text);

type Members = Readonly<Record<string, unknown>>;

interface Case {
  /** Members of the document, its operation, its parameter and its schema. */
  readonly root?: Members;
  readonly operation?: Members;
  readonly parameter?: Members;
  readonly schema?: Members;
  /** Further files of the contracts directory. */
  readonly files?: Readonly<Record<string, string>>;
  readonly prepare?: (contracts: string) => void;
  /** The mistake that keeps it from being served; absent: it is served, without the secret. */
  readonly refused?: RegExp;
}

function documentOf({ root: members, operation, parameter, schema }: Case): object {
  const content = { 'application/json': { schema: { type: 'object', ...schema } } };
  return {
    openapi: '3.1.0',
    info: { title: 'Things', version: '1' },
    security: [{ apiKey: ['things:read'] }],
    components: { securitySchemes: { apiKey: { type: 'http', scheme: 'bearer' } } },
    ...members,
    paths: {
      '/things': {
        get: {
          operationId: 'list_things',
          parameters: [{ name: 'q', in: 'query', schema: { type: 'string' }, ...parameter }],
          responses: { 200: { description: 'All', content } },
          ...operation,
        },
      },
    },
  };
}

const ref = (file: string, fragment = '') => ({ $ref: `${file}${fragment}` });
const json = join(outside, 'secret.json');
const text = join(outside, 'secret.txt');
const elsewhere = /outside the contracts directory/;
const noText = /OpenAPI has no reference here/;
function openedAnew(file: string): string {
  writeFileSync(file, '');
  return file;
}

const link = (name: string, target: string) => (contracts: string) => symlinkSync(target, join(contracts, name));

const cases: Readonly<Record<string, Case>> = {
  // Where OpenAPI has a reference.
  'a schema by an absolute path': { schema: ref(json, '#/schema'), refused: elsewhere },
  'a schema by a relative path': { schema: ref('../outside/secret.json', '#/schema'), refused: elsewhere },
  'a schema by a path that goes in and out': {
    schema: ref('./a/../../outside/secret.yaml', '#/schema'),
    refused: elsewhere,
  },
  'a path by an escaped dot': { schema: ref('%2e%2e/outside/secret.json', '#/schema'), refused: /there is no file/ },
  'a file URL': { schema: ref(pathToFileURL(json).href, '#/schema'), refused: /other hosts are not asked/ },
  'a file URL in capitals': { schema: ref(`FILE://${json}`, '#/schema'), refused: /there is no file/ },
  'an address': { schema: ref('http://127.0.0.1:9/secret.json', '#/schema'), refused: /other hosts are not asked/ },
  'a path with a zero byte': { schema: ref(`${json}\0.yaml`), refused: elsewhere },
  'a path with a zero byte inside': { schema: ref('./a\0.yaml'), refused: /Can't resolve \$ref/ },
  'a path that is too long': { schema: ref(`./${'a'.repeat(5000)}.yaml`), refused: /ENAMETOOLONG/ },
  'a link to a file': {
    schema: ref('./link.json', '#/schema'),
    prepare: link('link.json', json),
    refused: elsewhere,
  },
  'a link to a directory': {
    schema: ref('./link/secret.json', '#/schema'),
    prepare: link('link', outside),
    refused: elsewhere,
  },
  'a link to a link': {
    schema: ref('./first.json', '#/schema'),
    prepare(contracts) {
      symlinkSync('second.json', join(contracts, 'first.json'));
      symlinkSync('../outside/secret.json', join(contracts, 'second.json'));
    },
    refused: elsewhere,
  },
  'a link to itself': { schema: ref('./loop.json'), prepare: link('loop.json', 'loop.json'), refused: /ELOOP/ },
  'a second file that refers further': {
    schema: ref('./parts/b.yaml', '#/B'),
    files: { 'parts/b.yaml': 'B: { type: object, properties: { c: { $ref: "../../outside/secret.yaml#/schema" } } }' },
    refused: elsewhere,
  },
  'a second file whose member is a reference': {
    schema: ref('./b.yaml', '#/B/schema'),
    files: { 'b.yaml': `B: { $ref: ${JSON.stringify(json)} }` },
    refused: elsewhere,
  },
  'a neighbour whose name begins alike': {
    schema: ref('../openapi-private/secret.json', '#/schema'),
    prepare(contracts) {
      mkdirSync(`${contracts}-private`);
      writeFileSync(join(`${contracts}-private`, 'secret.json'), secretFiles['secret.json']);
    },
    refused: elsewhere,
  },
  'a mapping of a discriminator': {
    schema: {
      oneOf: [{ type: 'object' }],
      discriminator: { propertyName: 'kind', mapping: { a: json } },
    },
  },
  'a response': { operation: { responses: { 200: ref(json) } }, refused: elsewhere },
  'a path item': { root: { webhooks: { made: ref(json) } } },
  // What is no regular file.
  'a directory': { schema: ref('./parts'), files: { 'parts/a.yaml': '{}' }, refused: /this is a directory/ },
  'the contracts directory itself': { schema: ref('./'), refused: elsewhere },
  'a pipe': {
    schema: ref('./pipe.yaml'),
    prepare: (contracts) => execFileSync('mkfifo', [join(contracts, 'pipe.yaml')]),
    refused: /this is a pipe/,
  },
  'a device behind a link': { schema: ref('./zero.yaml'), prepare: link('zero.yaml', '/dev/zero'), refused: elsewhere },
  'a huge file': {
    schema: ref('./huge.yaml'),
    prepare(contracts) {
      writeFileSync(join(contracts, 'huge.yaml'), '');
      truncateSync(join(contracts, 'huge.yaml'), 2 ** 40);
    },
    refused: /the file has 1048576 MiB/,
  },
  // Where OpenAPI has a text.
  'a description of an operation': { operation: { description: ref(json, '#/d') }, refused: noText },
  'a description of the document': {
    root: { info: { title: 'Things', version: '1', description: ref(text) } },
    refused: noText,
  },
  'a description from a file of the directory': {
    operation: { description: ref('./intro.md') },
    files: { 'intro.md': SECRET },
    refused: noText,
  },
  'a description from the same document': { operation: { description: ref('#/info/title') }, refused: noText },
  'a pattern': { parameter: { schema: { type: 'string', pattern: ref(text) } }, refused: noText },
  'a name': { parameter: { name: ref(json, '#/d') }, refused: noText },
  // Where OpenAPI has values of the author: they are not looked into.
  'an example of a schema': { schema: { example: ref(json) } },
  'an example in an example': { schema: { example: { a: [ref(json), { b: ref(text) }] } } },
  'examples of a schema': { schema: { examples: [ref(json), { a: ref(text) }] } },
  'a default': { schema: { default: ref(json) } },
  'values of an enum': { schema: { enum: [ref(json), { a: ref(json, '#/d') }] } },
  'a constant': { schema: { const: ref(json) } },
  'an example of a parameter': { parameter: { example: ref(json, '#/d') } },
  'the value of an example': { parameter: { examples: { a: { value: ref(text) } } } },
  'the address of an example': { parameter: { examples: { a: { externalValue: text } } } },
  'the relative address of an example': { parameter: { examples: { a: { externalValue: '../outside/secret.txt' } } } },
  'an extension': { root: { 'x-secret': ref(json) }, operation: { 'x-secret': { deep: [{ a: ref(json) }] } } },
  'an extension of the linter': { operation: { 'x-codeSamples': [ref(json), { lang: 'a', source: ref(text) }] } },
  'a logo': { root: { info: { title: 'Things', version: '1', 'x-logo': { url: ref(text) } } } },
  'a member that OpenAPI does not know': { schema: { note: ref(json), notes: [ref(text)] } },
  'parameters of a link': {
    operation: {
      responses: {
        200: { description: 'All', links: { a: { operationId: 'list_things', parameters: { q: ref(json) } } } },
      },
    },
  },
};

/** Starts a gateway on the document; resolves with what it publishes, or with its mistakes. */
async function serve(one: Case): Promise<{ published: string; portal: string } | { mistakes: string }> {
  const directory = mkdtempSync(join(root, 'served-'));
  const contracts = join(directory, 'openapi');
  try {
    const gateway = await startGateway({
      contracts: { 'things.json': documentOf(one), ...one.files },
      upstreams: { things: { contracts: ['things.json'], live: 'http://127.0.0.1:9' } },
      environment: { GATEWAY_CONTRACTS: contracts },
      prepare(made) {
        symlinkSync(outside, join(directory, 'outside'));
        execFileSync('mv', [join(made, 'openapi'), contracts]);
        one.prepare?.(contracts);
      },
    });
    try {
      const get = async (path: string) => (await fetch(gateway.url + path)).text();
      return { published: await get('/openapi/things.json'), portal: await get('/docs/reference/things') };
    } finally {
      await gateway.stop();
    }
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { mistakes: error.mistakes.map(toSentence).join('\n') };
  }
}

describe('a reference of a contract to a file elsewhere is not followed:', () => {
  for (const [what, one] of Object.entries(cases)) {
    it(what, async () => {
      const said = await serve(one);
      if (one.refused !== undefined) {
        assert.ok('mistakes' in said, JSON.stringify(said).slice(0, 500));
        assert.match(said.mistakes, one.refused);
        assert.match(said.mistakes, /^\S+\.(json|yaml):\d+:\d+: /m);
      } else {
        assert.ok('published' in said, JSON.stringify(said));
        assert.match(said.published, /list_things/);
      }
      assert.ok(!JSON.stringify(said).includes(SECRET));
    });
  }
});

const schemaIn = (name: string) => ({
  [`${name}`]: `Thing: { type: object, properties: { a: { $ref: "#/A" } } }\nA: { type: string }\n`,
});
const entry = { things: { contracts: ['things.json'], live: 'http://127.0.0.1:9' } };

/** A directory with a configuration and these contracts. `environment` names the contracts directory as it is, or by another name. */
function written(one: Case, arrange: (directory: string) => string = (directory) => join(directory, 'openapi')) {
  const directory = mkdtempSync(join(root, 'written-'));
  writeConfiguration(directory, { contracts: { 'things.json': documentOf(one), ...one.files }, upstreams: entry });
  const environment = { GATEWAY_CONFIG: join(directory, 'config'), GATEWAY_CONTRACTS: arrange(directory) };
  const load = () => loadConfiguration(loadSettings(environment), environment, 'check');
  const reload = (previous: Configuration) => reloadConfiguration(loadSettings(environment), environment, previous);
  const run = (...words: string[]) =>
    runInProcess(words, { environment: { ...environment, GATEWAY_DATA: join(directory, 'data') } });
  const put = (name: string, content: Case) =>
    writeFileSync(join(directory, 'openapi', name), JSON.stringify(documentOf(content)));
  return { directory, environment, load, reload, run, put };
}

describe('a reference to a file of the contracts directory is followed', () => {
  const shared = { schema: ref('./parts/shared.yaml', '#/Thing'), files: schemaIn('parts/shared.yaml') };
  const isJoined = async ({ load }: ReturnType<typeof written>) => {
    const { contracts } = await load();
    assert.match(JSON.stringify(contracts.documents[0]?.root), /"Thing":\{"type":"object"/);
    assert.equal(contracts.documents[0]?.files.length, 2);
  };

  it('below it', () => isJoined(written(shared)));

  it('if the directory is a link', () =>
    isJoined(
      written(shared, (directory) => {
        symlinkSync('openapi', join(directory, 'current'));
        return join(directory, 'current');
      }),
    ));

  it('if a container volume has put it there: each file is a link through another link', () =>
    isJoined(
      written({ schema: ref('./shared.yaml', '#/Thing'), files: schemaIn('shared.yaml') }, (directory) => {
        const mount = join(directory, 'mount');
        mkdirSync(mount);
        execFileSync('mv', [join(directory, 'openapi'), join(mount, '..2026_11_25_08_00_00.1')]);
        symlinkSync('..2026_11_25_08_00_00.1', join(mount, '..data'));
        for (const name of ['things.json', 'shared.yaml']) symlinkSync(`..data/${name}`, join(mount, name));
        return mount;
      }),
    ));

  it('by an absolute path', () => {
    const made = written(shared);
    made.put('things.json', { schema: ref(join(made.directory, 'openapi/parts/shared.yaml'), '#/Thing') });
    return isJoined(made);
  });

  it('through a member of an extension', async () => {
    const { load } = written({
      schema: ref('#/x-shared/Thing'),
      root: { 'x-shared': { Thing: { type: 'object', properties: { a: ref('./parts/shared.yaml', '#/A') } } } },
      files: shared.files,
    });
    assert.deepEqual((await load()).contracts.documents[0]?.files.length, 2);
  });

  it('from a contract that is itself a link to elsewhere, because the operator has listed it', async () => {
    const made = written(shared);
    const file = join(made.directory, 'openapi', 'things.json');
    execFileSync('mv', [file, join(made.directory, 'elsewhere.json')]);
    symlinkSync('../elsewhere.json', file);
    await isJoined(made);
  });
});

describe('every reader of documents keeps to the directory:', () => {
  const leaky = { schema: ref(json, '#/schema') };
  const described = { operation: { description: ref(json, '#/d') } };

  it('check', async () => {
    const { code, stdout, stderr } = await written(leaky).run('check');
    assert.equal(code, 1, stdout);
    assert.match(stderr, elsewhere);
  });

  it('a reload, which reads in another thread', async () => {
    const { load, reload, put } = written({});
    const before = await load();
    for (const one of [leaky, described]) {
      put('things.json', one);
      await assert.rejects(reload(before), one === leaky ? elsewhere : noText);
    }
  });

  it('a start that has kept the contract under a wider directory', async () => {
    const made = written({});
    const inner = join(made.directory, 'openapi', 'inner');
    mkdirSync(inner);
    writeFileSync(join(inner, 'things.json'), JSON.stringify(documentOf({ schema: ref('../shared.json') })));
    writeFileSync(join(made.directory, 'openapi', 'shared.json'), '{"type":"object"}');
    writeConfiguration(made.directory, {
      upstreams: { things: { ...entry.things, contracts: ['inner/things.json'] } },
    });
    await made.load();
    writeConfiguration(made.directory, { upstreams: entry });
    const environment = { ...made.environment, GATEWAY_CONTRACTS: inner };
    await assert.rejects(loadConfiguration(loadSettings(environment), environment), elsewhere);
  });

  for (const words of [['lint'], ['bundle'], ['diff']]) {
    it(`contract ${words[0]}, of a file anywhere`, async () => {
      const directory = mkdtempSync(join(root, 'foreign-'));
      const file = join(directory, 'foreign.json');
      for (const one of [leaky, described]) {
        writeFileSync(file, JSON.stringify(documentOf(one)));
        const { code, stdout, stderr } = await written({}).run(
          'contract',
          ...words,
          file,
          ...(words[0] === 'diff' ? [file] : []),
        );
        if (words[0] !== 'bundle') assert.notEqual(code, 0, stdout);
        assert.match(stderr, one === leaky ? elsewhere : noText);
        assert.ok(!(stdout + stderr).includes(SECRET));
      }
    });
  }

  it('contract lint, whose recommendations are read by another reader', async () => {
    let asked = 0;
    const other = createServer((_, response) => {
      asked += 1;
      response.end('{}');
    }).listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const made = written({ root: { webhooks: { a: ref(`http://127.0.0.1:${port}/a.json`) } } });
    await made.run('contract', 'lint', join(made.directory, 'openapi/things.json'));
    other.close();
    assert.equal(asked, 0);
  });

  it('a contract that is a pipe, a device or huge is a mistake', async () => {
    const spoilt: Readonly<Record<string, [RegExp, (file: string) => unknown]>> = {
      pipe: [/this is a pipe/, (file) => execFileSync('mkfifo', [file])],
      device: [/this is a device/, (file) => symlinkSync('/dev/zero', file)],
      huge: [/may have 64 MiB/, (file) => truncateSync(openedAnew(file), 2 ** 40)],
    };
    for (const [what, [says, spoil]] of Object.entries(spoilt)) {
      const made = written({});
      const before = await made.load();
      const file = join(made.directory, 'openapi/things.json');
      rmSync(file);
      spoil(file);
      await assert.rejects(made.load(), says, what);
      await assert.rejects(made.reload(before), says, `${what}, at a reload`);
    }
  });
});

describe('a document that init has fetched', () => {
  let document: object = {};
  let service: FakeUpstream;
  before(async () => {
    service = await startUpstream((_, response) => response.end(JSON.stringify(document)));
  });
  after(() => service.close());

  const fetched: Readonly<Record<string, Case>> = {
    'an absolute path': { schema: ref(json, '#/schema') },
    'a contract beside it': { schema: ref('./things.json', '#/info') },
    'an example': { parameter: { examples: { a: { externalValue: './things.json' } } } },
  };
  async function init(one: Case, ...words: string[]) {
    document = documentOf(one);
    const made = mkdtempSync(join(root, 'init-'));
    mkdirSync(join(made, 'openapi'));
    writeFileSync(join(made, 'openapi', 'things.json'), secretFiles['secret.json']);
    const environment = { GATEWAY_DATA: join(made, 'data') };
    const command = ['init', made, '--from', `${service.url}/openapi.json`, '--name', 'fetched', ...words];
    const { code, stdout, stderr } = await runInProcess(command, { environment });
    assert.ok(!(stdout + stderr).includes(SECRET));
    return { code, said: stdout + stderr, isWritten: existsSync(join(made, 'openapi', 'fetched.json')) };
  }

  for (const [what, one] of Object.entries(fetched)) {
    it(`has no reference to a file: ${what}`, async () => {
      const { code, said, isWritten } = await init(one);
      assert.equal(code, 1, said);
      assert.match(said, /refers to files \(\S*(secret|things)\.json\S*\), which a fetched document must not do/);
      assert.ok(!isWritten);
    });
  }

  it('has no reference in the place of a text', async () => {
    const { code, said } = await init({ operation: { description: ref(json, '#/d') } });
    assert.equal(code, 1, said);
    assert.match(said, noText);
  });

  it('may have values that look like references', async () => {
    const { code, said } = await init({ schema: { example: ref(json), 'x-note': ref('./a.json') } }, '--json');
    assert.equal(code, 0, said);
  });
});
