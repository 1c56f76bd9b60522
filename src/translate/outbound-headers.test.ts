import { describe, expect, it } from 'vitest';
import { createExchange } from '../plugin/testing/index.ts';
import { outboundHeaders, type HeaderSources } from './outbound-headers.ts';

const headersOf = (inbound: Record<string, string>, sources: Partial<HeaderSources> = {}) =>
  outboundHeaders(createExchange({ headers: inbound }), {
    forward: [],
    ofCaller: {},
    ofFormat: undefined,
    ofProvider: {},
    ...sources,
  });

describe('headers of a request to an upstream', () => {
  it('start from nothing', () => {
    expect(headersOf({ cookie: 'a', 'x-tenant': 'b' })).toEqual({ 'content-type': 'application/json' });
  });

  it('hold those of the caller that the config names, where it sent them', () => {
    expect(headersOf({ 'x-tenant': 'b' }, { forward: ['x-tenant', 'x-absent'] })).toEqual({
      'x-tenant': 'b',
      'content-type': 'application/json',
    });
  });

  it('hold nothing of what every object has', () => {
    expect(headersOf({}, { forward: ['constructor', 'tostring', '__proto__'] })).toEqual({
      'content-type': 'application/json',
    });
  });

  it('are the provider’s where both speak, then the format’s', () => {
    const headers = headersOf(
      { a: 'caller', b: 'caller', c: 'caller' },
      { forward: ['a', 'b', 'c'], ofFormat: { b: 'format', c: 'format' }, ofProvider: { c: 'provider' } },
    );
    expect(headers).toMatchObject({ a: 'caller', b: 'format', c: 'provider' });
  });

  it('have what the caller says to that API over the provider’s default', () => {
    const headers = headersOf({}, { ofCaller: { v: 'caller' }, ofProvider: { v: 'provider' } });
    expect(headers['v']).toBe('caller');
  });

  it('join the betas of all who ask for some, each once', () => {
    const headers = headersOf(
      { 'anthropic-beta': 'one, two' },
      { forward: ['anthropic-beta'], ofFormat: { 'anthropic-beta': 'two,three' } },
    );
    expect(headers['anthropic-beta']).toBe('one,two,three');
  });
});
