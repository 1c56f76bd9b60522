import { expect } from 'vitest';
import { total } from './metrics.ts';
import type { Seen } from './rig.ts';

/** That the record, the access line, the metrics and the upstreams tell one story; called for every scenario. */
export function expectAgreement(seen: Seen): void {
  const { line, record } = seen;
  expect(
    record.attempts.map(({ target, why, provider, tries, failure }) => [
      target,
      why,
      provider,
      tries.length,
      failure?.code,
    ]),
    'record and access line: attempts',
  ).toEqual(
    (line.attempts ?? []).map(({ target, why, provider, tries, error_code }) => [
      target,
      why,
      provider,
      tries,
      error_code,
    ]),
  );
  expect(
    [record.request_id, record.status, record.error?.code, record.error?.type, record.retries],
    'record and access line: outcome',
  ).toEqual([line.request_id, line.status, line.error_code, line.error_type, line.retries ?? 0]);
  expectTerminalState(seen);
  expectVisits(seen);
  expectAttemptCounters(seen);
  expectRequestCounters(seen);
  expectTokens(seen);
}

/** What the client saw is what was recorded, and a stream has one end. */
function expectTerminalState({ record, line, received }: Seen): void {
  if (!received) return expect([record.state, record.status]).toEqual(['aborted', 499]);
  const { error, isStream, broken, ends, endsLast } = received;
  expect(record.state, 'record and client: terminal state').toBe(error ? 'failed' : 'complete');
  expect(record.error === undefined, 'an error is recorded if the client got one').toBe(error === undefined);
  expect(record.status, 'record and client: status').toBe(received.status);
  expect(broken, 'the reply ends as HTTP wants it').toBe(false);
  expect(ends, 'ends of the stream').toEqual(isStream ? [error ? 'error' : 'complete'] : []);
  expect(endsLast, 'nothing follows the end').toBe(true);
  expect(Buffer.byteLength(received.raw), 'bytes that left').toBe(line.bytes_out);
}

/** A try is a request that arrived, except at a closed port. */
function expectVisits({ record, primary, fallback }: Seen): void {
  const tries = (role: string): number =>
    record.attempts
      .filter(({ provider }) => provider.startsWith(`${role}-`))
      .reduce((sum, attempt) => sum + attempt.tries.length, 0);
  expect([primary.length, fallback.length], 'requests that arrived').toEqual([tries('primary'), tries('fallback')]);
}

function expectAttemptCounters({ record, gained }: Seen): void {
  expect(
    gained('gatehouse_upstream_attempts_total')
      .map(({ labels: { provider, outcome, error_type }, value }) => [provider, outcome, error_type, value].join(' '))
      .toSorted(),
    'attempts by metrics and record',
  ).toEqual(
    record.attempts
      .map(({ provider, outcome, failure }) => [provider, outcome, failure?.type ?? '', 1].join(' '))
      .toSorted(),
  );
  expect(
    gained('gatehouse_fallbacks_total').map(({ labels, value }) => ({ ...labels, value })),
    'fallbacks by metrics and record',
  ).toEqual(
    record.attempts.slice(1).map(({ provider }, index) => ({
      from_target: record.attempts[index]!.provider,
      to_target: provider,
      reason: record.attempts[index]!.failure?.type,
      value: 1,
    })),
  );
  expect(total(gained('gatehouse_upstream_retries_total')), 'retries').toBe(record.retries);
  expect(total(gained('gatehouse_upstream_request_duration_seconds_count')), 'tries').toBe(
    record.attempts.reduce((sum, { tries }) => sum + tries.length, 0),
  );
}

function expectRequestCounters({ line, record, gained }: Seen): void {
  expect(
    gained('gatehouse_requests_total').map(({ labels: { route, status_class, stream }, value }) => [
      route,
      status_class,
      stream,
      value,
    ]),
    'one request with this outcome',
  ).toEqual([[line.route, `${Math.trunc(record.outcome_status / 100)}xx`, String(line.stream), 1]]);
  expect(total(gained('gatehouse_request_duration_seconds_count')), 'one duration').toBe(1);
  expect(total(gained('gatehouse_client_disconnects_total')), 'clients that left').toBe(
    record.state === 'aborted' ? 1 : 0,
  );
}

/** The attempt that answered is counted once, under its own name; one that was lost costs nothing, whatever its upstream reported. */
function expectTokens({ record, line, received, gained }: Seen): void {
  if (received)
    expect(
      record.attempts.some(({ answered }) => answered),
      'an attempt answered',
    ).toBe(received.status < 400);
  const used = record.attempts.flatMap(({ provider, tokens, answered }) =>
    tokens && answered ? [`${provider} input ${tokens.input}`, `${provider} output ${tokens.output}`] : [],
  );
  expect(
    gained('gatehouse_tokens_total')
      .map(({ labels: { provider, type }, value }) => `${provider} ${type} ${value}`)
      .toSorted(),
    'tokens by metrics and record',
  ).toEqual(used.filter((text) => !text.endsWith(' 0')).toSorted());
  const winner = record.attempts.find(({ answered }) => answered)?.tokens;
  expect(line.tokens, 'tokens by access line and record').toEqual(winner);
  if (record.state !== 'complete' || !received?.usage) return;
  expect(received.usage, 'tokens by client and record').toEqual({ input: winner?.input, output: winner?.output });
}
