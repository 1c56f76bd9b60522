import { describe, expect, it } from 'vitest';
import type { RemoteMediaSettings } from '../kernel/index.ts';
import { AllowedHosts } from './custom-host.ts';

const settings = (parts: Partial<RemoteMediaSettings>): RemoteMediaSettings => ({
  hosts: [],
  maxBytes: 1000,
  maxItems: 10,
  timeoutMs: 1000,
  allowInsecure: false,
  ...parts,
});
const listed = (hosts: string[], url: string) => new AllowedHosts(settings({ hosts })).allows(new URL(url));

describe('hosts of remote_media', () => {
  it.each([
    [['a.example'], 'https://a.example/x'],
    [['a.example'], 'https://A.EXAMPLE/x'],
    [['a.example'], 'https://a.example:443/x'],
    [['*.a.example'], 'https://b.a.example/x'],
    [['*.a.example'], 'https://c.b.a.example/x'],
    [['*'], 'https://anything.example/x'],
    [['*'], 'https://[2606:4700::1]/x'],
    [['a.example:8443'], 'https://a.example:8443/x'],
    [['a.example:*'], 'https://a.example:8443/x'],
    [['*:*'], 'https://a.example:8443/x'],
    [['xn--bcher-kva.example'], 'https://bücher.example/x'],
  ])('%j allow %s', (hosts, url) => expect(listed(hosts, url)).toBe(true));

  it.each([
    [[], 'https://a.example/x'],
    [['a.example'], 'https://b.example/x'],
    [['a.example'], 'https://b.a.example/x'],
    [['a.example'], 'https://a.example.evil.example/x'],
    [['a.example'], 'https://a.example./x'],
    [['a.example'], 'https://evil.example/a.example'],
    [['a.example'], 'https://evil.example?a.example'],
    [['a.example'], 'https://evil.example#@a.example'],
    [['a.example'], String.raw`https://evil.example\@a.example/x`],
    [['*.a.example'], 'https://a.example/x'],
    [['*.a.example'], 'https://evila.example/x'],
    [['a.example'], 'https://a.example:8443/x'],
    [['*'], 'https://a.example:8443/x'],
    [['a.example:*'], 'https://a.example/x'],
    [['a.example:8443'], 'https://a.example:8444/x'],
  ])('%j do not allow %s', (hosts, url) => expect(listed(hosts, url)).toBe(false));

  it.each([
    ['https://a.example', false, true],
    ['http://a.example', false, false],
    ['http://a.example', true, true],
    ['https://user@a.example', true, false],
    ['https://:secret@a.example', true, false],
    ['ftp://a.example', true, false],
    ['gs://bucket/x', true, false],
  ])('a URL like %s, with allow_insecure %s, is allowed: %s', (url, allowInsecure, sound) => {
    expect(new AllowedHosts(settings({ allowInsecure })).isAllowed(new URL(url))).toBe(sound);
  });
});
