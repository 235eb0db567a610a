// A real browser for tests of pages: their look, their requests, their errors, and their accessibility.

import { mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Locator, Page } from 'playwright-core';
import { provideChromium } from './chromium.ts';
import { axe, chromium } from './packages.ts';

export type { Browser, Locator, Page };

/** Where screenshots go: SCREENSHOTS, else a new folder for temporary files. */
const screenshots = process.env.SCREENSHOTS ?? mkdtempSync(join(tmpdir(), 'screenshots-'));

/** What is further down repeats what is above, in an image that is too small to read. */
const TALLEST_PX = 2400;

export interface PageOptions {
  readonly colorScheme?: 'light' | 'dark';
  /** In CSS pixels. */
  readonly width?: number;
  readonly height?: number;
  readonly javaScript?: boolean;
  /** Default: the network is idle, which it never is while a page leaves an answer unread. */
  readonly waitUntil?: 'load' | 'networkidle';
  /** Headers of every request of the page. */
  readonly headers?: Record<string, string>;
}

export interface OpenPage {
  readonly page: Page;
  /** Errors on the console (violations of the Content-Security-Policy are among them), exceptions, and requests that failed. */
  readonly complaints: readonly string[];
  /** Requests to other origins than the page's; none of them is let out. */
  readonly foreign: readonly string[];
}

export interface Finding {
  readonly id: string;
  readonly impact: string;
  readonly targets: readonly string[];
}

/** @param settings more of the command line */
export async function launchBrowser(...settings: string[]): Promise<Browser> {
  // Chromium's own sandbox needs privileges that containers do not have, and the pages are ours.
  const args = ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', ...settings];
  return chromium.launch({ executablePath: provideChromium(), args });
}

/** A window of its own, with nothing remembered. Close it by `page.context().close()`. */
export async function openPage(browser: Browser, url: string, options: PageOptions = {}): Promise<OpenPage> {
  const {
    colorScheme = 'light',
    width = 1440,
    height = 900,
    javaScript = true,
    headers,
    waitUntil = 'networkidle',
  } = options;
  const context = await browser.newContext({
    colorScheme,
    viewport: { width, height },
    javaScriptEnabled: javaScript,
    ...(headers ? { extraHTTPHeaders: headers } : {}),
  });
  const complaints: string[] = [];
  const foreign: string[] = [];
  const { origin } = new URL(url);
  await context.route('**', (route) => {
    const asked = new URL(route.request().url());
    if (asked.origin === origin || ['data:', 'blob:'].includes(asked.protocol)) return route.continue();
    foreign.push(asked.href);
    return route.abort();
  });
  const page = await context.newPage();
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('requestfailed', (request) => complaints.push(`${request.url()}: ${request.failure()?.errorText}`));
  await page.goto(url, { waitUntil });
  return { page, complaints, foreign };
}

/** Chooses an entry of the menu in the head of the console. */
export async function chooseInMenu(page: Page, id: string): Promise<void> {
  if ((await page.locator('#menu:popover-open').count()) === 0) await page.locator('#menu-opener').click();
  await page.locator(`#${id}`).click();
}

/**
 * Puts an image into `SCREENSHOTS`; returns its path.
 *
 * @param fullPage false: of the window, as a dialog covers it
 */
export async function takeScreenshot(page: Page, name: string, fullPage = true): Promise<string> {
  mkdirSync(screenshots, { recursive: true });
  const path = join(screenshots, `${name}.png`);
  const [width, height] = (await page.evaluate('[innerWidth, document.documentElement.scrollHeight]')) as [
    number,
    number,
  ];
  const clip = { x: 0, y: 0, width, height: Math.min(height, TALLEST_PX) };
  await page.screenshot(fullPage ? { path, fullPage, clip } : { path });
  return path;
}

/** Findings of axe on the present page: serious and critical ones, or those of other degrees, too. */
export async function findBarriers(
  page: Page,
  degrees: readonly string[] = ['serious', 'critical'],
): Promise<Finding[]> {
  await page.evaluate(axe);
  return (await page.evaluate(`axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
    violations
      .filter(({ impact }) => ${JSON.stringify(degrees)}.includes(impact))
      .map(({ id, impact, nodes }) => ({ id, impact, targets: nodes.map(({ target }) => target.flat().join(' ')) })))`)) as Finding[];
}
