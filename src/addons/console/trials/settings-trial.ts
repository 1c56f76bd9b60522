import type { OnLeave, TrialWish } from '../../../core/process/console-port.ts';
import type { PartTools } from '../../../core/process/process-part.ts';
import type { InForce } from '../../../core/process/reload.ts';
import { storedOf, type SettingsTrial } from '../../../core/process/settings-trial.ts';
import { messageOf } from '../../../core/kernel/outside/thrown.ts';
import { knownEnvironment } from '../../../core/settings/read/edited-files.ts';
import { describe } from '../../../core/settings/source/diagnostic.ts';
import { wholeTexts } from '../drafts/edited-settings.ts';
import { runJob, type RunningJob } from './jobs.ts';

/** More than the limit of the job's own work: a process of low priority may take long to start. */
const LIMIT_MS = 180_000;

/** Runs a job about texts in the place of settings, in a process of its own. Undefined: too many run already. */
export async function startTrial(
  { configs, env }: Pick<PartTools, 'configs' | 'env'>,
  inForce: InForce,
  wish: TrialWish,
  onLeave: OnLeave,
): Promise<AsyncIterable<string> | undefined> {
  const { contents } = inForce.files;
  const { texts, lost } = await wholeTexts(configs, inForce, wish.texts);
  if (lost[0]) return only(text('done', wish.failed(describe(lost[0]))));
  const trial: SettingsTrial = {
    folder: configs,
    contents,
    texts,
    stored: storedOf(inForce.settings),
    env: knownEnvironment(env, contents),
  };
  const job = runJob({ name: wish.job, input: { ...trial, ...wish.more } }, LIMIT_MS);
  return job && eventsOf(job, wish, onLeave(job.stop));
}

async function* eventsOf(job: RunningJob, { failed }: TrialWish, stay: () => void): AsyncGenerator<string> {
  try {
    for await (const one of job.events) {
      // Both jobs tell their events in this form.
      const { event, data } = one as { readonly event: string; readonly data: object };
      yield text(event, data);
    }
  } catch (error) {
    yield text('done', failed(messageOf(error)));
  } finally {
    stay();
  }
}

async function* only(one: string): AsyncGenerator<string> {
  yield one;
}

const text = (event: string, data: object): string => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
