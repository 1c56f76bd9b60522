import { keepCompiledCode } from '../core/process/compiled-code.ts';

// Must come first, as in start.ts.
keepCompiledCode();
const [{ registerAddOns }, { addOns }] = await Promise.all([
  import('../core/commands/add-on.ts'),
  import('../addons/index.ts'),
]);
await registerAddOns(addOns);
await import('../addons/workers/worker-process.ts');
