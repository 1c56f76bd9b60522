import { keepCompiledCode } from '../core/process/compiled-code.ts';

// Must come first, as in start.ts.
keepCompiledCode();
const [{ registerAddOns }, { jobOf }, { addOns }] = await Promise.all([
  import('../core/commands/add-on.ts'),
  import('../core/process/add-on-parts.ts'),
  import('../addons/index.ts'),
]);

/** The process of a job: work of an add-on that takes seconds, which a process that serves does not have. It ends with its parent. */
process.once('disconnect', () => process.exit());
process.once('message', ({ name, input }: { readonly name: string; readonly input: unknown }) => {
  run(name, input).then(
    () => process.send?.({}),
    (error: unknown) => process.send?.({ failed: error instanceof Error ? error.message : String(error) }),
  );
});

async function run(name: string, input: unknown): Promise<void> {
  await registerAddOns(addOns);
  const job = jobOf(name);
  if (!job) throw new Error(`this build has no job ${name}`);
  for await (const event of job(input)) process.send?.({ event });
}
