import { keepCompiledCode } from '../core/process/compiled-code.ts';

// Must come first: static imports are compiled before anything runs.
keepCompiledCode();
const [{ main }, { commands }, { registerAddOns }, { addOns }] = await Promise.all([
  import('../core/commands/command-line.ts'),
  import('./commands.ts'),
  import('../core/commands/add-on.ts'),
  import('../addons/index.ts'),
]);
await main(commands, () => registerAddOns(addOns));
