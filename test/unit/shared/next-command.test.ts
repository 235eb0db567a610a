import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nextCommandOf } from '../../../gateway/shared/next-command.ts';
import { knownCommands } from '../../../tools/docs/command-list.ts';
import { commandLines, complaintAbout } from '../../support/documented-commands.ts';

/** Ids as docs/alerts.md lists them, and the command about each. */
const rows: readonly (readonly [id: string, command: string | undefined, runbook?: string])[] = [
  ['stores disk', 'bin/gateway doctor'],
  ['upstream orders live', 'bin/gateway upstreams try orders --mode live'],
  ['upstream orders test', 'bin/gateway upstreams try orders --mode test'],
  ['upstream orders credential', 'bin/gateway doctor', 'GatewayCredentialMissing'],
  ['upstream orders credential', 'bin/gateway upstreams try orders --mode live', 'GatewayCredentialLatched'],
  ['upstream orders shedding', 'bin/gateway upstreams try orders --mode live'],
  ['upstream mail@eu.example.com live', 'bin/gateway upstreams try mail@eu.example.com --mode live'],
  ['operations of orders', 'bin/gateway upstreams try orders --mode live'],
  ['slow operations of orders', 'bin/gateway upstreams try orders --mode live'],
  ['operation GET /v1/orders', undefined],
  ['slow GET /v1/orders', undefined],
  ['organization org_acme', 'bin/gateway limits show --org org_acme'],
  ['near org_acme organization', 'bin/gateway limits show --org org_acme'],
  ['organization a b; rm', undefined],
  ['unknown callers', 'bin/gateway orgs list'],
  ['keys lost', 'bin/gateway keys import keys.jsonl'],
  ['redis', 'bin/gateway doctor'],
  ['store writes', 'bin/gateway doctor'],
  ['issuer idp', 'bin/gateway doctor'],
  ['certificate api.example.com', 'bin/gateway certificates list'],
  ['configuration', 'bin/gateway check'],
  ['configuration restart', 'bin/gateway check'],
  ['configuration differs', 'bin/gateway check'],
  ['clock gw-2:8080', 'timedatectl'],
  ['tier gold', 'bin/gateway check'],
  ['worker 2', 'bin/gateway status'],
  ['instance gw-7:8080', 'bin/gateway status --history'],
  ['receiver pager', 'bin/gateway alerts test pager'],
];

test('a cause has a command that exists, with the name that the cause is about', async () => {
  const program = await knownCommands();
  for (const [id, command, runbook] of rows) {
    assert.equal(nextCommandOf({ id, runbook }), command, id);
    if (command === undefined) continue;
    const [words = []] = commandLines(command);
    assert.equal(complaintAbout(words, program), undefined, command);
  }
});
