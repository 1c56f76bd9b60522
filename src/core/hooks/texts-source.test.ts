import { describe, expect, it } from 'vitest';
import { openaiChat } from '../../formats/openai-chat/index.ts';
import { ReplyTexts } from '../../formats/texts/reply-texts.ts';
import { GatewayError, UpstreamError } from '../../plugin/errors.ts';
import type { TextHold } from '../../plugin/hooks.ts';
import { createFakeClock } from '../../plugin/testing/fake-clock.ts';
import { createSource } from '../../plugin/testing/reply.ts';
import { replacing } from '../../formats/texts/replacing.ts';
import { TextsSource } from './texts-source.ts';

const event = (content: string): string =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`;

const HOLD: Required<TextHold> = { mode: 'window', bytes: 40, time: 2000, beyond: 'stop' };

function start(
  hold: Partial<TextHold> = {},
  transform = () => replacing(/secret/, '***', { longest: 6, of: /[a-z]/ }),
) {
  const clock = createFakeClock();
  const upstream = createSource();
  const texts = new ReplyTexts({ layout: openaiChat.texts.reply, form: 'sse', open: transform, signed: false });
  const held: number[] = [];
  const setup = {
    plugin: 'mask',
    clock,
    hold: { ...HOLD, ...hold },
    onFail: (error: GatewayError) => error,
    onHeld: (ms: number) => void held.push(ms),
  };
  const source = new TextsSource(upstream, texts, setup);
  const client = { text: '', ended: false, error: undefined as GatewayError | undefined };
  source.open({
    push: (bytes) => (client.text += bytes.toString()),
    end: () => (client.ended = true),
    fail: (error) => (client.error = error),
  });
  return { clock, upstream, source, client, held };
}

/** Waits for one word, however long. */
const whole = () => (text: string, final: boolean) => (final ? text : { text: '', keep: text.length });

describe('a stream whose texts a plugin reads', () => {
  it('leaves as far as it is decided', () => {
    const { upstream, client } = start();
    upstream.push(event('a sec'));
    expect(client.text).toBe('');
    upstream.push(event('ret, then s'));
    expect(client.text).toBe(event('a ***'));
    upstream.end();
    expect(client).toMatchObject({ text: `${event('a ***')}${event(', then s')}`, ended: true, error: undefined });
  });

  it('tells once how long an event has waited at most', async () => {
    const { clock, upstream, held } = start();
    upstream.push(event('a sec'));
    await clock.advance(300);
    upstream.push(event('ret, and sec'));
    await clock.advance(100);
    upstream.end();
    expect(held).toEqual([300]);
    const passing = start();
    passing.upstream.push(event('nothing. '));
    passing.upstream.end();
    expect(passing.held).toEqual([]);
  });

  it('ends with an error where more waits than it may, and the upstream is cancelled', () => {
    const { upstream, client } = start({}, whole);
    upstream.push(event('x'.repeat(30)));
    upstream.push(event('x'.repeat(30)));
    expect(client).toMatchObject({ text: '', ended: false, error: { code: 'reply_withheld', plugin: 'mask' } });
    expect(upstream.calls).toContain('cancel');
    upstream.push(event('late'));
    expect(client.text).toBe('');
  });

  it('ends with an error where it waits longer than it may, while its client reads', async () => {
    const { clock, upstream, client, source } = start({ bytes: 1000 }, whole);
    upstream.push(event('one'));
    await clock.advance(1500);
    upstream.push(event('two'));
    source.pause();
    await clock.advance(1000);
    expect(client.error).toBeUndefined();
    source.resume();
    await clock.advance(2000);
    expect(client).toMatchObject({ text: '', error: { code: 'reply_withheld' } });
  });

  it('leaves unchanged beyond that where the plugin says so, and is read on', async () => {
    const { clock, upstream, client } = start({ beyond: 'release' });
    upstream.push(event('a sec'));
    await clock.advance(2000);
    expect(client.text).toBe(event('a sec'));
    upstream.push(event('ret secret '));
    expect(client.text).toContain('"ret *** "');
  });

  it('drops what is undecided when the upstream fails', () => {
    const { upstream, client } = start();
    upstream.push(event('a sec'));
    upstream.fail(new UpstreamError('stream_interrupted', 'cut'));
    expect(client).toMatchObject({ text: '', ended: false, error: { code: 'stream_interrupted' } });
  });

  it('ends with the error that the plugin throws', () => {
    const refuse = () => (): never => {
      throw new GatewayError('content_filter', 'No.');
    };
    const { upstream, client } = start({}, refuse);
    upstream.push(event('x'));
    expect(client).toMatchObject({ text: '', error: { code: 'content_filter', status: 400 } });
    expect(upstream.calls).toContain('cancel');
  });

  it('leaves no timer when it is cancelled', async () => {
    const { clock, upstream, source, client } = start({}, whole);
    upstream.push(event('x'));
    source.cancel(new GatewayError('client_closed', 'gone'));
    await clock.advance(10_000);
    expect(client.error).toBeUndefined();
    expect(upstream.calls).toContain('cancel');
  });
});
