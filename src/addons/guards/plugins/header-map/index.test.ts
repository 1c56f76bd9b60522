import { describe, expect, it } from 'vitest';
import { createExchange, runPlugin } from '../../../../plugin/testing/index.ts';
import headerMap from './index.ts';

const OPTIONS = { metadata: { 'X-Tenant': 'tenant' }, upstream: { 'x-conversation': 'X-Session-Id' } };

describe('header-map', () => {
  it('takes metadata and headers for upstreams from headers of the client', async () => {
    const exchange = createExchange({ headers: { 'x-tenant': 'search', 'x-conversation': 'c-1', 'x-other': 'o' } });
    const { explain } = await runPlugin(headerMap, { options: OPTIONS, exchange });
    expect({ ...exchange.metadata }).toEqual({ tenant: 'search' });
    expect({ ...exchange.mappedHeaders }).toEqual({ 'x-session-id': { from: 'x-conversation', value: 'c-1' } });
    expect(explain()?.does).toBe('X-Tenant becomes the metadata tenant, x-conversation is sent as X-Session-Id');
    expect(JSON.stringify(explain())).not.toContain('c-1');
  });

  it('leaves a request without the headers as it is', async () => {
    const exchange = createExchange({});
    const { explain } = await runPlugin(headerMap, { options: OPTIONS, exchange });
    expect([{ ...exchange.metadata }, exchange.mappedHeaders, explain()]).toEqual([{}, undefined, undefined]);
  });

  it('reads headers and keys with the names of inherited properties', async () => {
    const options = { metadata: { constructor: 'a', 'x-b': '__proto__' }, upstream: { 'to-string': 'constructor' } };
    const exchange = createExchange({ headers: { 'x-b': 'b' } });
    await runPlugin(headerMap, { options, exchange });
    expect(Object.entries(exchange.metadata)).toEqual([['__proto__', 'b']]);
    expect(exchange.mappedHeaders).toBeUndefined();
  });

  it.each(['x-tenant', 'x-conversation'])('refuses a request whose %s is too long', async (name) => {
    const options = { ...OPTIONS, max_length: 4 };
    await runPlugin(headerMap, { options, exchange: createExchange({ headers: { [name]: 'four' } }) });
    await expect(
      runPlugin(headerMap, { options, exchange: createExchange({ headers: { [name]: 'fives' } }) }),
    ).rejects.toMatchObject({ code: 'invalid_header', status: 400, message: `${name} is longer than 4 characters.` });
  });

  it.each([{ metadata: { 'x y': 'a' } }, { upstream: { 'x-y': 'a\r\nb' } }, { upstream: { 'x-y': '' } }])(
    'refuses what is no name of a header: %j',
    async (options) => {
      await expect(runPlugin(headerMap, { options })).rejects.toThrow(TypeError);
    },
  );
});
