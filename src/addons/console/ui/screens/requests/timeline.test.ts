import { describe, expect, it } from 'vitest';
import { failureOf, timelineOf } from './timeline.ts';

describe('the timeline', () => {
  it('has each try where it was, and the waits between', () => {
    const rows = timelineOf({
      duration_ms: 400,
      attempts: [
        {
          target: 'config.targets[0]',
          why: 'first',
          outcome: 'error',
          provider: 'simulator',
          request_model: 'sim-error-503',
          tries: [
            { started_ms: 0, duration_ms: 4, outcome: 'error', status: 503 },
            { started_ms: 304, duration_ms: 16, waited_ms: 300, in_line_ms: 8, outcome: 'error', status: 503 },
          ],
        },
        {
          target: 'config.targets[1]',
          target_name: 'spare',
          why: 'fallback',
          outcome: 'success',
          provider: 'simulator',
          request_model: 'sim-steady',
          tries: [{ started_ms: 320, duration_ms: 80, outcome: 'success', status: 200 }],
        },
      ],
    });
    expect(rows.map(({ segments }) => segments.map(({ kind, from, size }) => [kind, from, size]))).toEqual([
      [
        ['failed', 0, 1],
        ['wait', 1, 75],
        ['wait', 76, 2],
        ['failed', 78, 2],
      ],
      [['ok', 80, 20]],
    ]);
    expect(rows.map(({ target, status }) => [target, status])).toEqual([
      ['config.targets[0]', '503'],
      ['spare', '200'],
    ]);
  });

  it('shows an attempt of which nothing was sent', () =>
    expect(
      timelineOf({
        duration_ms: 0,
        attempts: [{ target: 't', why: 'first', outcome: 'error', failure: { code: 'egress_blocked' }, tries: [] }],
      }),
    ).toEqual([{ provider: 'no provider', model: '', target: 't', status: 'egress_blocked', segments: [] }]));

  it('has the failure in the words of the provider', () =>
    expect(
      failureOf({
        target: 't',
        why: 'first',
        outcome: 'error',
        failure: { code: 'upstream_error', upstream_kind: 'overloaded', upstream_message: 'Try later.' },
        tries: [],
      }),
    ).toEqual({
      code: 'overloaded',
      text: 'Try later.',
    }));
});
