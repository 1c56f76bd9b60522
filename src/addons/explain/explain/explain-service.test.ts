import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../core/kernel/system-clock.ts';
import { type Diagnostic, SettingsRefused } from '../../../core/settings/source/diagnostic.ts';
import { createExplainService } from './explain-service.ts';
import { ExplainHangs } from './explain-hangs.ts';
import { KeptRequests } from './kept-requests.ts';
import { SettingsExplainer } from './settings-explainer.ts';

const asked = { method: 'POST', path: '/v1/chat/completions', headers: {}, body: '{}', key: 'taem' };

const MISTAKE: Diagnostic = {
  severity: 'error',
  file: 'configs/server.yaml',
  line: 3,
  column: 1,
  message: 'No such key.',
};

/** A service whose explainer fails every question with this error. */
function failing(error: Error) {
  const explainer = Object.assign(Object.create(SettingsExplainer.prototype) as SettingsExplainer, {
    explain: async (): Promise<never> => {
      throw error;
    },
  });
  const records = { explained: () => undefined };
  return createExplainService({ current: () => explainer, kept: new KeptRequests(), records, clock: systemClock })
    .explains;
}

describe('a failed question', () => {
  it.each([
    [
      'the name of the hanging plugin',
      new ExplainHangs('The plugin "waits" did not end within 5 s.'),
      'The plugin "waits" did not end within 5 s.',
    ],
    [
      'the place of an error',
      new SettingsRefused([MISTAKE]),
      'The settings have errors. configs/server.yaml:3:1: No such key.',
    ],
  ])('reports %s', async (_, error, message) => {
    expect(await failing(error).explain(asked)).toEqual({ refused: { code: 'cannot_explain', message } });
  });

  it('rejects with other errors, which are the gateway’s own', async () => {
    await expect(failing(new Error('a fault')).explain(asked)).rejects.toThrow('a fault');
  });
});
