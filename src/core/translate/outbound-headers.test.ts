import { describe, expect, it } from 'vitest';
import { createExchange } from '../../plugin/testing/index.ts';
import { outboundHeaders, type HeaderSources } from './outbound-headers.ts';

const headersOf = (inbound: Record<string, string>, sources: Partial<HeaderSources> = {}) =>
  outboundHeaders(createExchange({ headers: inbound }), {
    forward: [],
    ofCaller: {},
    ofFormat: undefined,
    ofProvider: {},
    ...sources,
  });

describe('headers of an upstream request', () => {
  it('contain nothing of the caller by default', () => {
    expect(headersOf({ cookie: 'a', 'x-tenant': 'b' })).toEqual({ 'content-type': 'application/json' });
  });

  it('contain the caller’s headers that the config names', () => {
    expect(headersOf({ 'x-tenant': 'b' }, { forward: ['x-tenant', 'x-absent'] })).toEqual({
      'x-tenant': 'b',
      'content-type': 'application/json',
    });
  });

  it('contain no inherited object properties', () => {
    expect(headersOf({}, { forward: ['constructor', 'tostring', '__proto__'] })).toEqual({
      'content-type': 'application/json',
    });
  });

  it('prefer the provider’s over the format’s', () => {
    const headers = headersOf(
      { a: 'caller', b: 'caller', c: 'caller' },
      { forward: ['a', 'b', 'c'], ofFormat: { b: 'format', c: 'format' }, ofProvider: { c: 'provider' } },
    );
    expect(headers).toMatchObject({ a: 'caller', b: 'format', c: 'provider' });
  });

  it('prefer the caller’s headers for that API over the provider’s default', () => {
    const headers = headersOf({}, { ofCaller: { v: 'caller' }, ofProvider: { v: 'provider' } });
    expect(headers['v']).toBe('caller');
  });

  it('join the betas of all sources, each once', () => {
    const headers = headersOf(
      { 'anthropic-beta': 'one, two' },
      { forward: ['anthropic-beta'], ofFormat: { 'anthropic-beta': 'two,three' } },
    );
    expect(headers['anthropic-beta']).toBe('one,two,three');
  });
});
