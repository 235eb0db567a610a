import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { test } from 'node:test';
import { authorityOf, createSites, type HostNames } from '../../../gateway/edge/admission/sites.ts';

const sitesAt = (hosts: HostNames, publicUrl = 'https://api.example.com') => {
  const sitesOf = createSites(hosts, publicUrl);
  return (host: string | undefined) => {
    const sites = sitesOf(host);
    return sites === undefined ? 'misdirected' : [...sites].join(' ');
  };
};

test('without names every host is the API, mail and JMAP', () => {
  const sites = sitesAt({});
  for (const host of ['api.example.com', 'anything.test:99', undefined]) assert.equal(sites(host), 'api mail jmap');
  assert.equal(sitesAt({ panel: undefined })('x'), 'api mail jmap');
});

test('with names only these are served, and a site without a name is where the API is', () => {
  const sites = sitesAt({ mail: 'mail.example.com', panel: 'panel.example.com' });
  assert.equal(sites('api.example.com'), 'api jmap');
  assert.equal(sites('mail.example.com'), 'mail');
  assert.equal(sites('panel.example.com'), 'panel');
  assert.equal(sites(undefined), 'api jmap', 'HTTP/1.0 without Host');
  for (const host of ['example.com', 'www.api.example.com', '127.0.0.1', '']) assert.equal(sites(host), 'misdirected');
});

test('the API may have another name than the public address, and sites may share one', () => {
  const sites = sitesAt({ api: 'in.example.com', mail: 'm.example.com', jmap: 'm.example.com' });
  assert.equal(sites('api.example.com'), 'misdirected');
  assert.equal(sites('in.example.com'), 'api');
  assert.equal(sites('m.example.com'), 'mail jmap');
});

test('the names for settings and policies are served only where they are configured', () => {
  const sites = sitesAt({
    autoconfig: 'autoconfig.example.com',
    autodiscover: 'd.example.com',
    mtaSts: 'd.example.com',
  });
  assert.equal(sites('autoconfig.example.com'), 'autoconfig');
  assert.equal(sites('d.example.com'), 'autodiscover mtaSts');
  assert.equal(sites('api.example.com'), 'api mail jmap');
});

test('ports, capitals and the dot at the end of a full name make no difference', () => {
  const sites = sitesAt({ panel: 'panel.example.com' }, 'https://[::1]:8443');
  for (const host of ['PANEL.example.com', 'panel.example.com.', 'panel.example.com.:443', 'panel.example.com:'])
    assert.equal(sites(host), 'panel', host);
  assert.equal(sites('[::1]:80'), 'api mail jmap');
  assert.equal(sites('[::1]'), 'api mail jmap');
  assert.equal(sites('panel.example.com..'), 'misdirected');
});

test('a target that names its host counts instead of the Host header', () => {
  const authority = (url: string, host?: string) => authorityOf({ url, headers: { host } } as IncomingMessage);
  assert.equal(authority('/jmap', 'a.test'), 'a.test');
  assert.equal(authority('http://b.test:8080/jmap', 'a.test'), 'b.test:8080');
  assert.equal(authority('HTTPS://b.test?x', 'a.test'), 'b.test');
  assert.equal(authority('*', 'a.test'), 'a.test');
  assert.equal(authority('/jmap'), undefined);
});
