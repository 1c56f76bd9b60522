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
  it('passes at once: after minutes of silence the next target is tried', async () => {
    const config = fallback({ ...vertex, timeouts: { first_byte: '10m' }, request_timeout: '20m' }, claude);
    const outcome = await run({ ...config, deadline: '1h' }, { upstream: [{ fault: 'hang' }, { answer: 'Hello' }] });
    expect(outcome).toMatchObject({ status: 200, faults: [] });
    expect(codes(outcome)).toEqual(['timeout_first_byte', undefined]);
  });

  it.each([
    ['29s', undefined],
    ['31s', 'timeout_first_byte'],
  ])('passes by a delay of %s', async (delay, error) => {
    const outcome = await run(
      { ...openai, timeouts: { first_byte: '30s' } },
      { upstream: [{ answer: 'Hello', delay }] },
    );
    expect(codes(outcome)).toEqual([error]);
  });

  it.each([
    ['20s', 'complete'],
    ['31s', 'error'],
  ])('passes by a pause of %s between the events of a stream', async (pause, ends) => {
    const config = { ...claude, timeouts: { idle: '30s', first_content: '70s' }, request_timeout: '20m' };
    const body = { stream: true };
    const outcome = await run({ ...config, deadline: '30m' }, { body, upstream: [{ answer: 'Hello there', pause }] });
    expect(outcome).toMatchObject({ stream: { ends }, faults: [] });
    // Pings show the client that the connection is still alive.
    expect(outcome.text).toContain(': ping');
  });

  it.each([
    ['9', 1],
    ['31', 0],
  ])('is waited as long as Retry-After: %s requests, if there is enough', async (seconds, retries) => {
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

  it('ends at the request’s deadline, even with targets left', async () => {
    const config = { ...fallback(openai, claude, vertex), deadline: '50s', timeouts: { first_byte: '40s' } };
    const outcome = await run(config, { upstream: [{ fault: 'hang' }, { fault: 'hang' }] });
    expect(outcome).toMatchObject({ status: 504, faults: [] });
    expect(codes(outcome)).toEqual(['timeout_first_byte', 'timeout_request']);
  });

  it('also passes before a refused connection', async () => {
    const config = { ...fallback(openai, claude), timeouts: { connect: '5s' } };
    const outcome = await run(config, { upstream: [{ fault: 'refuse', delay: '6s' }, { answer: 'Hello' }] });
    expect(codes(outcome)).toEqual(['timeout_connect', undefined]);
  });
});

describe('a stream that breaks', () => {
  const cut = [{ answer: 'Hello there', fault: 'cut' as const }, { answer: 'Well then' }];

  it('is reported to the client when content has been sent', async () => {
    const outcome = await run(fallback(openai, claude), { body: { stream: true }, upstream: cut.slice(0, 1) });
    expect(outcome).toMatchObject({ stream: { text: 'Hello', ends: 'error' }, faults: [] });
  });

  it('falls through with commit: complete', async () => {
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
      const place = { config: 'prod', target: 'config.targets[0]', target_name: '' };
      expect(transitions).toEqual([{ ...place, to: 'open', value: 1 }]);
    }
  });
});

describe('work that never ends', () => {
  it('is aborted in real time, such as a plugin that retries forever', async () => {
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

  it('such as a plugin that does not start is reported at its place after its limit in test time', async () => {
    const time = startTime(new Traffic(), 0, () => false);
    const real = createFakeClock();
    const compiling = new Promise((resolve) => time.clock.after(10_000, () => resolve('told at its place')));
    const starting = started(compiling, time, real);
    await real.advance(10_000);
    expect(await starting).toBe('told at its place');
  });

  it('has its first calls reported, and the others counted', async () => {
    const config = { ...openai, retry: { attempts: 5 } };
    const retried = await run({ strategy: { mode: 'fallback' }, targets: [config, config] }, { upstream: [] });
    expect(retried.calls.length).toBeGreaterThan(6);
    expect(retried.faults).toHaveLength(6);
    expect(retried.faults.at(-1)).toBe(`and ${retried.calls.length - 5} more calls have no answer`);
  });
});
