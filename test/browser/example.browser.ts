// The example of a browser application, started as its guide says: a person signs in at its provider, lists customers, creates a job once,
// sees events as they happen, and signs out everywhere.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { BrowserContext, Page } from 'playwright-core';
import { type Browser, launchBrowser } from './browser.ts';

const PATIENCE = 60_000;
const root = fileURLToPath(new URL('../../', import.meta.url));
/** The first block under "Try it". */
const [, command = ''] = /## Try it\n\n```sh\n(.*)\n```/.exec(readFileSync(`${root}docs/sessions.md`, 'utf8')) ?? [];

describe('the example of a browser application', { timeout: 300_000 }, () => {
  let example: ChildProcess;
  let address: string;
  let printed = '';
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  const complaints: string[] = [];

  before(async () => {
    // In a group of its own, as a terminal has it: Ctrl+C reaches all of them.
    example = spawn(command, { cwd: root, shell: true, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    address = await new Promise((resolve, reject) => {
      for (const stream of [example.stdout, example.stderr])
        stream?.on('data', (bytes) => {
          printed += bytes;
          const [, found] = /Open (http:\S+)/.exec(printed) ?? [];
          if (found !== undefined) resolve(found);
        });
      example.once('exit', () => reject(new Error(`The example has ended:\n${printed}`)));
    });
    browser = await launchBrowser();
    context = await browser.newContext();
    context.setDefaultTimeout(PATIENCE);
    page = await context.newPage();
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('console', (message) => {
      const isOurs = message.location().url.startsWith(new URL(address).origin);
      if (message.type() === 'error' && isOurs) complaints.push(message.text());
    });
  });
  after(async () => {
    await browser?.close();
    if (example.exitCode !== null) return;
    const ended = once(example, 'exit');
    process.kill(-(example.pid as number), 'SIGINT');
    await ended;
    for (const port of [8080, 9400, 9401]) await assert.rejects(fetch(`http://localhost:${port}/`), `port ${port}`);
  });

  it('signs a person in, and lists customers', async () => {
    await page.goto(address);
    await page.click('text=Sign in');
    await page.fill('input[name=login]', 'ada');
    await page.fill('input[name=password]', 'any');
    await page.click('button[type=submit]');
    await page.click('button[type=submit]');
    await page.waitForURL(address);
    await page.waitForSelector('#customers li');
    assert.equal(await page.textContent('#name'), 'ada');
    assert.equal(await page.locator('#customers li').count(), 2);
  });

  it('creates a job once, however often the request is sent', async () => {
    const sent = page.waitForRequest((request) => request.method() === 'POST' && request.url().endsWith('/v1/jobs'));
    await page.fill('input[name=notes]', 'twelve windows');
    await page.click('text=Create');
    const request = await sent;
    await page.waitForFunction(`document.getElementById('problem').textContent.startsWith('Created')`);
    const told = (await page.textContent('#problem')) ?? '';
    const { 'idempotency-key': key = '' } = request.headers();
    assert.match(key, /^[\w-]{36}$/);
    const repeated = await page.evaluate(
      `fetch('/v1/jobs', { method: 'POST', body: ${JSON.stringify(request.postData())},
        headers: { 'content-type': 'application/json', 'idempotency-key': ${JSON.stringify(key)} } })
        .then(async (answer) => [answer.status, (await answer.json()).id])`,
    );
    assert.deepEqual(repeated, [201, told.replace(/Created (.*)\./, '$1')]);
  });

  it('shows events as they happen', async () => {
    await page.click('#save');
    await page.waitForSelector('#events li');
    assert.match((await page.textContent('#events li')) ?? '', /^file\.saved .*example\.txt/);
  });

  it('keeps what was written when the session ends, and goes on after the next login', async () => {
    await page.fill('input[name=notes]', 'half a job');
    const ended = await page.evaluate(`fetch('/session/logout', { method: 'POST' }).then(({ status }) => status)`);
    assert.equal(ended, 200);
    await page.click('text=Create');
    await page.waitForSelector('#sign-in', { state: 'visible' });
    await page.click('#sign-in');
    // The provider knows the person, and asks for consent again.
    await page.click('button[type=submit]');
    await page.waitForSelector('#customers li');
    assert.equal(await page.inputValue('input[name=notes]'), 'half a job');
  });

  it('signs out, here, at the provider, and in the other tab', async () => {
    const other = await context.newPage();
    await other.goto(address);
    await other.waitForSelector('#customers li');
    await page.click('#sign-out');
    // The provider asks whether to sign out there, too.
    await page.click('button[value=yes]');
    await page.waitForURL(address);
    for (const tab of [page, other]) {
      await tab.waitForSelector('#sign-in', { state: 'visible' });
      assert.equal(await tab.evaluate(`fetch('/session').then(({ status }) => status)`), 401);
    }
    await page.click('#sign-in');
    await page.waitForSelector('input[name=password]');
  });

  it('makes no script fail, and breaks no policy of its pages', () => {
    const unexpected = complaints.filter((text) => !/status of 401/.test(text));
    assert.deepEqual(unexpected, []);
  });
});
