// A browser without a screen, for tests of sessions. It stores cookies by origin, sends no Strict cookie with a request that another site
// has begun, and sends the headers that say which page made a request.

export interface BrowserAnswer {
  readonly url: string;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed body. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of all operations.
  readonly body: any;
}

interface Kept {
  readonly value: string;
  readonly sameSite: string;
  /** The Set-Cookie line, to read its attributes back. */
  readonly line: string;
}

export interface CookieBrowser {
  /** Opens an address as a person does, and follows redirects. A Strict cookie does not travel once another site is on the way. */
  open(url: string, from?: 'typed' | 'link' | 'elsewhere'): Promise<BrowserAnswer>;
  /** Does one step of `open`, and returns the redirect. */
  step(url: string, site: 'none' | 'same-origin' | 'cross-site'): Promise<BrowserAnswer>;
  /** Sends a request of a page of the same origin. */
  fetch(url: string, init?: RequestInit): Promise<BrowserAnswer>;
  /** Returns the cookies of an origin by name. */
  cookies(origin: string): Map<string, Kept>;
}

export function createCookieBrowser(): CookieBrowser {
  const jars = new Map<string, Map<string, Kept>>();
  const jarOf = (origin: string) => jars.get(origin) ?? (jars.set(origin, new Map()).get(origin) as Map<string, Kept>);

  function keep(origin: string, lines: readonly string[]): void {
    for (const line of lines) {
      const [pair = '', ...attributes] = line.split(';').map((part) => part.trim());
      const [name, value] = [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)];
      const attribute = (key: string) =>
        attributes.find((one) => one.toLowerCase().startsWith(`${key}=`))?.slice(key.length + 1);
      if (attribute('max-age') === '0' || value === '') jarOf(origin).delete(name);
      else jarOf(origin).set(name, { value, sameSite: attribute('samesite') ?? 'Lax', line });
    }
  }

  async function send(url: string, init: RequestInit, withStrict: boolean): Promise<BrowserAnswer> {
    const { origin } = new URL(url);
    const sent = [...jarOf(origin)].filter(([, { sameSite }]) => withStrict || sameSite !== 'Strict');
    const headers = new Headers(init.headers);
    if (sent.length > 0 && !headers.has('cookie'))
      headers.set('cookie', sent.map(([name, { value }]) => `${name}=${value}`).join('; '));
    headers.set('user-agent', 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0');
    const answer = await fetch(url, { ...init, headers, redirect: 'manual' });
    keep(origin, answer.headers.getSetCookie());
    const text = await answer.text();
    const isJson = answer.headers.get('content-type')?.startsWith('application/json') === true;
    return { url, status: answer.status, headers: answer.headers, text, body: isJson ? JSON.parse(text) : undefined };
  }

  const browser: CookieBrowser = {
    step(url, site) {
      const navigation = { 'sec-fetch-site': site, 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
      const headers = { ...navigation, accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
      return send(url, { headers }, site !== 'cross-site');
    },
    async open(url, from = 'typed') {
      let site: 'none' | 'same-origin' | 'cross-site' =
        from === 'typed' ? 'none' : from === 'link' ? 'same-origin' : 'cross-site';
      let at = url;
      for (let hops = 0; hops < 12; hops += 1) {
        const answer = await browser.step(at, site);
        const location = answer.headers.get('location');
        if (answer.status < 300 || answer.status >= 400 || location === null) return answer;
        const next = new URL(location, at);
        if (next.origin !== new URL(at).origin) site = 'cross-site';
        at = next.href;
      }
      throw new Error(`The browser went in circles, last at ${at}.`);
    },
    fetch(url, init = {}) {
      const { origin } = new URL(url);
      const headers = new Headers(init.headers);
      if (!headers.has('sec-fetch-site')) headers.set('sec-fetch-site', 'same-origin');
      if (!headers.has('sec-fetch-mode')) headers.set('sec-fetch-mode', 'cors');
      if (init.method !== undefined && init.method !== 'GET' && !headers.has('origin')) headers.set('origin', origin);
      return send(url, { ...init, headers }, true);
    },
    cookies: jarOf,
  };
  return browser;
}
