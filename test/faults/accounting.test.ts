import { afterAll, beforeAll, expect, it, describe } from 'vitest';
import { expectAgreement } from './kit/agree.ts';
import { FALLBACK, headOnly, PRIMARY, refuse, streamOf } from './kit/deeds.ts';
import { DIALECT_NAMES } from './kit/dialects.ts';
import { total } from './kit/metrics.ts';
import { startRig, type Rig } from './kit/rig.ts';
import { configFor, FALLBACK_OF } from './scenarios.ts';

/** What is counted when one target fails and another answers: an answer once, and a failure never as one. */

let rig: Rig;
beforeAll(async () => {
  rig = await startRig(
    Object.fromEntries(
      DIALECT_NAMES.flatMap((name) => [
        [name, configFor(name, 'fallback', { timeouts: { first_content: 80 } })],
        [`${name}-whole`, configFor(name, 'complete', {})],
      ]),
    ),
  );
});
afterAll(() => rig.close());

const tokens = (seen: Awaited<ReturnType<Rig['ask']>>) =>
  seen
    .gained('gatehouse_tokens_total')
    .map(({ labels: { provider, type }, value }) => `${provider} ${type} ${value}`)
    .toSorted();

describe.each(DIALECT_NAMES)('after a fallback from a %s target', (name) => {
  const winner = `fallback-${FALLBACK_OF[name]}`;
  const answered = [`${winner} input ${FALLBACK.usage.input}`, `${winner} output ${FALLBACK.usage.output}`];

  it.each([false, true])('a refused attempt has cost nothing (stream: %s)', async (stream) => {
    rig.primary.does(refuse({ status: 503, message: 'no' }));
    const seen = await rig.ask({ api: 'chat', stream, config: name });
    expectAgreement(seen);
    expect(tokens(seen)).toEqual(answered);
    expect(seen.received?.usage).toEqual(FALLBACK.usage);
    expect(seen.line).toMatchObject({ provider: winner, tokens: FALLBACK.usage });
  });

  it('an attempt that was lost has cost nothing, whatever its upstream said, and is no answer', async () => {
    rig.primary.does(
      streamOf(
        ({ head, words, finish }) => [
          ...head,
          ...words,
          // The last event of a response is its end and its usage.
          ...(name === 'responses' ? finish.slice(0, -1) : [...finish.slice(0, 1), ...finish.slice(2)]),
        ],
        'close',
      ),
    );
    const seen = await rig.ask({ api: 'chat', stream: true, config: `${name}-whole`, held: true });
    expectAgreement(seen);
    expect(tokens(seen)).toEqual(answered);
    expect(seen.gained('gatehouse_request_tokens_count').map(({ labels }) => labels['provider'])).toEqual([
      winner,
      winner,
    ]);
    const [lost] = seen.record.attempts;
    expect([lost?.outcome, lost?.tokens], 'the record tells what it reported').toEqual([
      'error',
      name === 'openai' || name === 'responses' ? undefined : expect.objectContaining({ input: PRIMARY.usage.input }),
    ]);
    expect(seen.received?.usage, 'the caller’s bill is the winner’s').toEqual(FALLBACK.usage);
    expect(seen.received?.text).toBe(FALLBACK.words.join(''));
    expect(seen.received?.raw).not.toContain(PRIMARY.words[0]);
    expect(
      seen.gained('gatehouse_upstream_time_per_output_token_seconds_count').map(({ labels }) => labels['provider']),
      'no pace of what was lost',
    ).toEqual([winner]);
    expect(
      seen.gained('gatehouse_upstream_time_to_first_chunk_seconds_count').map(({ labels }) => labels['provider']),
      'its first content was none of the answer',
    ).toEqual([winner]);
  });

  it('one request is one request, one outcome and one duration', async () => {
    rig.primary.does(headOnly);
    const seen = await rig.ask({ api: 'messages', stream: true, config: name });
    expectAgreement(seen);
    expect(total(seen.gained('gatehouse_requests_total'))).toBe(1);
    expect(
      seen
        .gained('gatehouse_upstream_attempts_total')
        .map(({ labels }) => labels['outcome'])
        .toSorted(),
    ).toEqual(['error', 'success']);
  });
});
