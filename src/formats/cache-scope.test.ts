import { describe, expect, it } from 'vitest';
import type { FormatName, JsonObject } from './conversation.ts';
import { formats } from './index.ts';
import { replyContext, requestTarget } from './contexts.testkit.ts';
import { finish } from './steps.ts';
import { FORMATS, MODELS } from './target-names.testkit.ts';
import { translateRequest } from './translate.ts';

const cache_control = { type: 'ephemeral', ttl: '1h', scope: 'global' };
const part = { type: 'text', text: 'q', cache_control };

const sent = (client: FormatName, upstream: FormatName, body: JsonObject) =>
  finish(
    translateRequest(body, {
      client: formats[client],
      upstream: formats[upstream],
      target: requestTarget({ model: MODELS[upstream], extensions: new Set(), defaultMaxTokens: 9 }),
      reply: replyContext(),
    }),
  );

describe('the scope of a cache marker', () => {
  const messages = [{ role: 'user', content: [part] }];

  it('stays in a Messages body that is written anew', () => {
    const body = {
      model: 'm',
      max_tokens: 9,
      system: [part],
      tools: [{ name: 'f', input_schema: { type: 'object' }, cache_control }],
      messages,
    };
    expect(sent('anthropic-messages', 'anthropic-messages', body).body).toMatchObject({
      system: [{ cache_control }],
      tools: [{ cache_control }],
      messages: [{ content: [{ cache_control }] }],
    });
  });

  it.each(FORMATS.filter((name) => name !== 'openai-chat'))(
    'of a chat request is a reported loss at %s',
    (upstream) => {
      const tools = [{ type: 'function', function: { name: 'f' }, cache_control }];
      const { body, losses } = sent('openai-chat', upstream, { model: 'm', messages, tools, cache_control });
      expect(JSON.stringify(body)).not.toContain('scope');
      const lost = losses.map(({ param }) => param);
      for (const place of ['messages[0].content[0].cache_control.scope', 'tools[0].cache_control.scope'])
        expect(lost).toContain(place);
      expect(lost.some((param) => /^cache_control(?:\.scope)?$/.test(param))).toBe(true);
    },
  );
});
