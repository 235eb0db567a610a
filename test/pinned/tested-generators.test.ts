// The guide names the versions of generators that `npm run test:services` tries.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const { dependencies } = JSON.parse(read('test/services/apps/typescript-client/package.json'));
const generatorOf = (app: string) =>
  /^openapi-generator-cli\S*==(\S+)$/m.exec(read(`test/services/apps/${app}/requirements.txt`))?.[1];

it('the guide about SDKs names the tested versions', () => {
  const guide = read('docs/guides/sdks.md');
  const versions = [generatorOf('openapi-generator-oldest'), generatorOf('python-client')].join(', ');
  for (const tested of [
    `@hey-api/openapi-ts ${dependencies['@hey-api/openapi-ts']}`,
    `openapi-typescript ${dependencies['openapi-typescript']}`,
    `openapi-generator ${versions}`,
  ])
    assert.ok(guide.includes(`| ${tested} `), tested);
  assert.equal(guide.split(`| openapi-generator ${versions} `).length, 3, 'TypeScript and Python');
});

it('the commands of the guide about SDKs install the tested versions, with a TypeScript that they run with', () => {
  const guide = read('docs/guides/sdks.md');
  for (const name of ['@hey-api/openapi-ts', 'openapi-typescript'])
    assert.ok(guide.includes(`npx -p typescript@${dependencies.typescript} -p ${name}@${dependencies[name]} `), name);
});
