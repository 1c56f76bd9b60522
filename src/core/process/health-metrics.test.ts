import { describe, expect, it } from 'vitest';
import type { HealthReport, TargetPlace } from '../memory/ports.ts';
import { healthLines } from './health-metrics.ts';

const place: TargetPlace = {
  config: 'search',
  target: 'config.targets[1]',
  name: '',
  provider: 'vertex',
  enforced: true,
};
const well: HealthReport = {
  state: 'closed',
  probing: false,
  failures: 0,
  requests: 12,
  waitMs: 0,
  lastError: undefined,
};
const lastError = { code: 'overloaded', agoMs: 2100 };

describe('the line of a target', () => {
  it.each<[Partial<TargetPlace & HealthReport>, string]>([
    [{}, 'vertex: closed, 0 of 12 requests failed recently'],
    [{ failures: 2, lastError }, 'vertex: closed, 2 of 12 requests failed recently, last error overloaded 3 s ago'],
    [
      { state: 'open', failures: 9, waitMs: 12_001, lastError },
      'vertex: open, 9 of 12 requests failed recently, may be probed in 13 s, last error overloaded 3 s ago',
    ],
    [{ state: 'open' }, 'vertex: open, 0 of 12 requests failed recently, may be probed now'],
    [{ state: 'half_open', probing: true }, 'vertex: half_open, 0 of 12 requests failed recently, is being probed'],
    [{ state: 'half_open' }, 'vertex: half_open, 0 of 12 requests failed recently, may be probed now'],
    [
      { state: 'open', waitMs: 5000, enforced: false },
      'vertex: open (no circuit_breaker), 0 of 12 requests failed recently, still receives requests',
    ],
  ])('for %j is: %s', (parts, line) => {
    expect(healthLines([{ ...place, ...well, ...parts }])).toEqual([`target search config.targets[1] ${line}`]);
  });

  it('has the name of the target beside its place', () => {
    expect(healthLines([{ ...place, ...well, name: 'primary' }])).toEqual([
      'target search config.targets[1] "primary" vertex: closed, 0 of 12 requests failed recently',
    ]);
  });

  it('has no provider if the request chooses it', () => {
    expect(healthLines([{ ...place, ...well, provider: '' }])).toEqual([
      'target search config.targets[1]: closed, 0 of 12 requests failed recently',
    ]);
  });
});
