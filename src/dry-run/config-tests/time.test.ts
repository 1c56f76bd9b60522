import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../plugin/testing/fake-clock.ts';
import { started } from './case-gateway.ts';
import { passTime, startTime } from './case-time.ts';
import { Traffic } from './memory-socket.ts';
import { run, TARGETS } from './run.testkit.ts';

const { openai, claude, vertex } = TARGETS;
const fallback = (...targets: object[]) => ({ strategy: { mode: 'fallback' }, targets });
const codes = (outcome: { readonly attempts: readonly { readonly error: string | undefined }[] }) =>
  outcome.attempts.map(({ error }) => error);
const counted = (
  outcome: { readonly metrics: readonly { name: string; labels: object; value: number }[] },
  name: string,
) => outcome.metrics.filter((metric) => metric.name === name).map(({ labels, value }) => ({ ...labels, value }));

describe('time in a case', () => {
  it('passes at once: an upstream that says nothing for minutes is left for the next', async () => {
    const config = fallback({ ...vertex, timeouts: { first_byte: '10m' }, request_timeout: '20m' }, claude);
    const outcome = await run({ ...config, deadline: '1h' }, { upstream: [{ fault: 'hang' }, { answer: 'Hello' }] });
    expect(outcome).toMatchObject({ status: 200, faults: [] });
    expect(codes(outcome)).toEqual(['timeout_first_byte', undefined]);
  });

  it.each([
    ['29s', undefined],
    ['31s', 'timeout_first_byte'],
  ])('is what a delay of %s takes', async (delay, error) => {
    const outcome = await run(
      { ...openai, timeouts: { first_byte: '30s' } },
      { upstream: [{ answer: 'Hello', delay }] },
    );
    expect(codes(outcome)).toEqual([error]);
  });

  it.each([
    ['20s', 'complete'],
    ['31s', 'error'],
  ])('is what a pause of %s takes between the events of a stream', async (pause, ends) => {
    const config = { ...claude, timeouts: { idle: '30s', first_content: '70s' }, request_timeout: '20m' };
    const body = { stream: true };
    const outcome = await run({ ...config, deadline: '30m' }, { body, upstream: [{ answer: 'Hello there', pause }] });
    expect(outcome).toMatchObject({ stream: { ends }, faults: [] });
    // A client is shown that the line still stands.
    expect(outcome.text).toContain(': ping');
  });

  it.each([
    ['9', 1],
    ['31', 0],
  ])('is waited for as Retry-After: %s asks, if there is that much of it', async (seconds, retries) => {
    const config = {
      ...openai,
      retry: { attempts: 1, max_delay: '10s', use_retry_after_header: true },
      request_timeout: '30s',
    };
    const answers = [{ status: 429, headers: { 'retry-after': seconds } }, { answer: 'Hello' }];
    const outcome = await run(config, { upstream: answers.slice(0, retries + 1) });
    expect(outcome.faults).toEqual([]);
    expect(outcome.status).toBe(retries === 1 ? 200 : 429);
    expect(outcome.headers).toMatchObject({ 'x-gateway-retry-attempt-count': String(retries) });
  });

  it('is over at the deadline of the request, whoever is left to be asked', async () => {
    const config = { ...fallback(openai, claude, vertex), deadline: '50s', timeouts: { first_byte: '40s' } };
    const outcome = await run(config, { upstream: [{ fault: 'hang' }, { fault: 'hang' }] });
    expect(outcome).toMatchObject({ status: 504, faults: [] });
    expect(codes(outcome)).toEqual(['timeout_first_byte', 'timeout_request']);
  });

  it('is spent before a refused connection, too', async () => {
    const config = { ...fallback(openai, claude), timeouts: { connect: '5s' } };
    const outcome = await run(config, { upstream: [{ fault: 'refuse', delay: '6s' }, { answer: 'Hello' }] });
    expect(codes(outcome)).toEqual(['timeout_connect', undefined]);
  });
});

describe('a stream that breaks', () => {
  const cut = [{ answer: 'Hello there', fault: 'cut' as const }, { answer: 'Well then' }];

  it('is told where its content has left', async () => {
    const outcome = await run(fallback(openai, claude), { body: { stream: true }, upstream: cut.slice(0, 1) });
    expect(outcome).toMatchObject({ stream: { text: 'Hello', ends: 'error' }, faults: [] });
  });

  it('is nobody’s where all of it is waited for', async () => {
    const config = { ...fallback(openai, claude), commit: 'complete' };
    const outcome = await run(config, { body: { stream: true }, upstream: cut });
    expect(outcome).toMatchObject({ stream: { text: 'Well then', ends: 'complete' }, faults: [] });
    expect(codes(outcome)).toEqual(['stream_interrupted', undefined]);
  });
});

describe('a circuit breaker', () => {
  it('begins closed in every case, and opens with its failures', async () => {
    const breaker = { circuit_breaker: { failures: 1, min_requests: 1 } };
    const config = fallback({ ...openai, ...breaker }, claude);
    for (let time = 0; time < 2; time += 1) {
      const outcome = await run(config, { upstream: [{ status: 503 }, { answer: 'Hello' }] });
      expect(outcome.faults).toEqual([]);
      const transitions = counted(outcome, 'gatehouse_circuit_breaker_transitions_total');
      expect(transitions).toEqual([{ config: 'prod', target: 'config.targets[0]', to: 'open', value: 1 }]);
    }
  });
});

describe('what never ends', () => {
  it('is given up in real time, though it never rests, as a plugin that tries again and again', async () => {
    const traffic = new Traffic();
    let goesOn = true;
    const again = (): void => (goesOn ? traffic.carry(again) : undefined);
    again();
    const reported = await passTime(
      startTime(traffic, 0, () => false),
      () => false,
      { mostRealMs: 20 },
    );
    goesOn = false;
    expect(reported).toBe('it did not end within 0.02 s of real time');
  });

  it('is a plugin that does not start: it is told at its place, once its own time has been made to pass', async () => {
    const time = startTime(new Traffic(), 0, () => false);
    const real = createFakeClock();
    const compiling = new Promise((resolve) => time.clock.after(10_000, () => resolve('told at its place')));
    const starting = started(compiling, time, real);
    await real.advance(10_000);
    expect(await starting).toBe('told at its place');
  });

  it('has the first of its calls told, and how many more there were', async () => {
    const config = { ...openai, retry: { attempts: 5 } };
    const retried = await run({ strategy: { mode: 'fallback' }, targets: [config, config] }, { upstream: [] });
    expect(retried.calls.length).toBeGreaterThan(6);
    expect(retried.faults).toHaveLength(6);
    expect(retried.faults.at(-1)).toBe(`and ${retried.calls.length - 5} more calls have no answer`);
  });
});
