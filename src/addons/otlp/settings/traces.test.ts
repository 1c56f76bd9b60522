import { describe, expect, it } from 'vitest';
import type { Telemetry } from '../../../../schemas/types.generated.ts';
import { restartKeys, restartProblems } from '../../../core/process/restart-only.testkit.ts';

const endpoint = (url: string) => ({ telemetry: { traces: { endpoint: url } } });

describe('a restart is needed for', () => {
  it.each<[string, Telemetry]>([
    ['traces turned on', { traces: { service_name: 'x' } }],
    ['traces turned on with nothing in them', { traces: {} }],
  ])('%s', (_, telemetry) => {
    expect(restartKeys({}, { telemetry })).toEqual(['telemetry.traces']);
  });

  it('a collector, whose address is never shown, because it may contain a password', () => {
    const problems = restartProblems(endpoint('http://u:old-password@a/'), endpoint('http://u:new-password@a/'));
    expect(problems.map(({ path }) => path.join('.'))).toEqual(['telemetry.traces.endpoint']);
    expect(problems[0]!.message).not.toContain('password');
  });
});
