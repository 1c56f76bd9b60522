import { describe, expect, it } from 'vitest';
import { Secret } from '../../plugin/index.ts';
import { createFakeClock } from '../../plugin/testing/index.ts';
import { familiesOf, openFamilies } from '../../core/record/metrics/metrics.ts';
import type { SmallReply, SmallRequest } from '../../core/upstream/types.ts';
import { ALERT_METRICS } from './metrics.ts';
import { FiredAlerts } from './fired-alerts.ts';
import { PAUSES_MS, Webhook } from './webhook.ts';

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const settings = {
  id: 'ops',
  url: new Secret('https://alerts.example/path-with-a-secret'),
  secret: new Secret(SECRET),
  kinds: new Set(['budget'] as const),
  nodes: undefined,
  allowInsecure: false,
};

type Answer = (request: SmallRequest, index: number) => Promise<SmallReply>;
const status = (code: number): Promise<SmallReply> => Promise.resolve({ status: code, headers: {}, text: '' });
const hangs = (): Promise<SmallReply> => new Promise(() => {});

function openWebhook(answer: Answer) {
  const clock = createFakeClock();
  const seen: { readonly at: number; readonly request: SmallRequest }[] = [];
  const lost: Record<string, unknown>[] = [];
  const log = { error: (line: Record<string, unknown>) => void lost.push(line), warn() {} };
  const exchange = (request: SmallRequest): Promise<SmallReply> => {
    seen.push({ at: clock.now(), request });
    return answer(request, seen.length - 1);
  };
  const families = familiesOf(openFamilies(), ALERT_METRICS);
  const tools = { clock, log: log as never, families, exchange, fired: new FiredAlerts() };
  const webhook = new Webhook(settings, tools, () => Promise.resolve(false));
  return { clock, seen, lost, webhook, families };
}

const event = (id: string) => ({ id, body: JSON.stringify({ id, type: 'budget' }) });

describe('a webhook', () => {
  it('gets an event once when it accepts it', async () => {
    const { clock, seen, lost, webhook } = openWebhook(() => status(204));
    webhook.send(event('a'));
    await clock.advance(2 * 3_600_000);
    expect([seen.length, lost]).toEqual([1, []]);
  });

  it('is tried six times within an hour, with growing pauses, then the event is a dead letter', async () => {
    const answers = [500, 302, 404, 429, 503, 500];
    const { clock, seen, lost, webhook } = openWebhook((_, index) => status(answers[index]!));
    webhook.send(event('a'));
    await clock.advance(2 * 3_600_000);
    const times = seen.map(({ at }) => at);
    expect(times).toEqual([
      0,
      ...PAUSES_MS.map((_, index) => PAUSES_MS.slice(0, index + 1).reduce((sum, one) => sum + one)),
    ]);
    expect(times.at(-1)).toBeLessThanOrEqual(3_600_000);
    expect(PAUSES_MS).toEqual(PAUSES_MS.toSorted((a, b) => a - b));
    expect(lost).toMatchObject([
      { webhook: 'ops', reason: 'tries', tries: 6, failure: 'HTTP 500', event: { id: 'a' } },
    ]);
    expect(JSON.stringify(lost)).not.toContain('path-with-a-secret');
  });

  it('gets the same id and body at each try, signed for its time', async () => {
    const { clock, seen, webhook } = openWebhook(() => Promise.reject(new Error('refused')));
    webhook.send(event('a'));
    await clock.advance(20_000);
    const [first, second] = seen.map(({ request: { headers, body } }) => ({ ...headers, body }));
    expect(first).toMatchObject({ 'webhook-id': 'a', 'webhook-timestamp': String(Date.UTC(2026, 0, 1) / 1000) });
    expect(second).toMatchObject({ 'webhook-id': 'a', body: first!.body });
    expect(second!['webhook-timestamp' as never]).not.toBe(first!['webhook-timestamp' as never]);
    expect(second!['webhook-signature' as never]).not.toBe(first!['webhook-signature' as never]);
  });

  it('that never answers holds up neither the next events nor the end of the process', async () => {
    const { clock, seen, lost, webhook } = openWebhook((_, index) => (index < 3 ? hangs() : status(200)));
    for (const id of ['a', 'b', 'c', 'd', 'e']) webhook.send(event(id));
    await clock.advance(0);
    expect(seen.length).toBe(5);
    const closing = webhook.close();
    await clock.advance(2000);
    await closing;
    expect(lost.map(({ event: of, reason }) => [(of as { id: string }).id, reason])).toEqual([
      ['a', 'shutdown'],
      ['b', 'shutdown'],
      ['c', 'shutdown'],
    ]);
  });

  it('is tried once more at the end of the process', async () => {
    const { clock, seen, lost, webhook } = openWebhook((_, index) => status(index === 0 ? 503 : 200));
    webhook.send(event('a'));
    await clock.advance(0);
    await webhook.close();
    expect([seen.length, lost]).toEqual([2, []]);
  });

  it('has a bounded queue', async () => {
    const { clock, seen, lost, webhook } = openWebhook(hangs);
    for (let at = 0; at < 1003; at += 1) webhook.send(event(String(at)));
    await clock.advance(0);
    expect(seen.length).toBe(4);
    expect(lost.map(({ reason }) => reason)).toEqual(['queue_full', 'queue_full', 'queue_full']);
  });

  it('that is removed from the settings gets nothing more', async () => {
    const { clock, seen, lost, webhook } = openWebhook(() => status(500));
    webhook.send(event('a'));
    await clock.advance(0);
    webhook.remove();
    await clock.advance(3_600_000);
    expect([seen.length, lost.map(({ reason }) => reason)]).toEqual([1, ['removed']]);
  });
});
