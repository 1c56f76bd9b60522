import { importPlugins } from '../../core/compose/plugin-modules.ts';
import { messageOf } from '../../core/kernel/outside/thrown.ts';
import { runForPlugin } from '../../core/kernel/outside/plugin-work.ts';
import { findings } from '../../plugin/testing/check-plugin.ts';
import type { CheckMessage, CheckTask } from './check-messages.ts';

/** The process in which plugins are checked: whatever they do, the command ends and says what it was. */

/** A process without a parent only loads. */
const say = (message: CheckMessage): void => void process.send?.(message);

const BEAT_MS = 250;

process.once('message', (task: CheckTask) => {
  say({ kind: 'alive' });
  setInterval(() => say({ kind: 'alive' }), BEAT_MS).unref();
  check(task).then(
    () => process.disconnect(),
    (error: unknown) => {
      say({ kind: 'failed', message: messageOf(error) });
      process.disconnect();
    },
  );
});

async function check({ file, options }: CheckTask): Promise<void> {
  const plugins = await runForPlugin(file, () => importPlugins(file));
  say({ kind: 'plugins', names: plugins.map(({ name }) => name) });
  for (const plugin of plugins)
    say({ kind: 'checked', name: plugin.name, level: plugin.level, findings: await findings(plugin, { options }) });
  say({ kind: 'done' });
}
