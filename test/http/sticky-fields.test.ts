import { expect, it, onTestFinished } from 'vitest';
import { KEY, startTestGateway } from '../support/gateway.ts';
import { json, openaiReply, startUpstream } from '../support/upstream.ts';

const text = 'hi';
const messages = [{ role: 'user', content: text }];
const contents = [{ role: 'user', parts: [{ text }] }];

/** Where clients of each API name their conversation. */
const DOORS = {
  chat: ['prompt_cache_key', '/v1/chat/completions', (id: string) => ({ messages, prompt_cache_key: id })],
  responses: ['prompt_cache_key', '/v1/responses', (id: string) => ({ input: text, prompt_cache_key: id })],
  messages: [
    'metadata.user_id',
    '/v1/messages',
    (id: string) => ({ messages, max_tokens: 9, metadata: { user_id: id } }),
  ],
  gemini: [
    'labels.session',
    '/v1beta/models/m:generateContent',
    (id: string) => ({ contents, labels: { session: id } }),
  ],
} as const;

it.each(Object.entries(DOORS))(
  'A load balance keeps a conversation of %s, named in its body, at one target',
  async (_, [field, path, bodyOf]) => {
    const upstream = await startUpstream((__, res) => json(res, openaiReply('ok')));
    onTestFinished(() => upstream.close());
    const entry = {
      provider: 'openai',
      base_url: `${upstream.url}/v1`,
      api_key: '${env:NONE:-k}',
      allow_insecure: true,
    };
    const gateway = await startTestGateway({
      server: { default_config: 'spread' },
      catalog: { providers: ['a', 'b'].map((slug) => ({ slug, ...entry })) },
      gateway: {
        spread: {
          strategy: { mode: 'loadbalance', sticky: { hash_fields: [`params.${field}`], ttl: '24h' } },
          targets: ['@a', '@b'].map((provider) => ({ provider, override_params: { model: 'm' } })),
        },
      },
    });
    onTestFinished(() => gateway.close());
    const targetOf = async (id: string): Promise<string | null> => {
      const reply = await fetch(gateway.url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-gateway-api-key': KEY },
        body: JSON.stringify({ ...(path.startsWith('/v1/') && { model: 'm' }), ...bodyOf(id) }),
      });
      await reply.text();
      expect(reply.status).toBe(200);
      return reply.headers.get('x-gateway-provider');
    };
    const ids = Array.from({ length: 16 }, (__, index) => `conversation-${index}`);
    const first = await Promise.all(ids.map(targetOf));
    expect(await Promise.all(ids.map(targetOf))).toEqual(first);
    expect(new Set(first)).toEqual(new Set(['a', 'b']));
  },
);
