import { keepCompiledCode } from '../core/process/compiled-code.ts';

// Must come first, as in start.ts.
keepCompiledCode();
const [{ registerAddOns }, { partOf }, { addOns }] = await Promise.all([
  import('../core/commands/add-on.ts'),
  import('../core/process/add-on-parts.ts'),
  import('../addons/index.ts'),
]);
await registerAddOns(addOns);
await partOf('runWorker')?.();
