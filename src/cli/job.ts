import { keepCompiledCode } from '../core/process/compiled-code.ts';

// Must come first, as in start.ts.
keepCompiledCode();
const [{ registerAddOns }, { jobOf }, { addOns }, { messageOf }] = await Promise.all([
  import('../core/commands/add-on.ts'),
  import('../core/process/add-on-parts.ts'),
  import('../addons/index.ts'),
  import('../core/kernel/outside/thrown.ts'),
]);

/** The process of a job (core/process/jobs.ts). It ends with its parent. */
const tell = (message: import('../core/process/jobs.ts').JobMessage): void => void process.send?.(message);
process.once('disconnect', () => process.exit());
process.once('message', (task: import('../core/process/jobs.ts').JobTask) => {
  run(task).then(
    () => tell({ done: true }),
    (error: unknown) => tell({ failed: messageOf(error) }),
  );
});

async function run({ name, input }: import('../core/process/jobs.ts').JobTask): Promise<void> {
  await registerAddOns(addOns);
  const job = jobOf(name);
  if (!job) throw new Error(`this build has no job ${name}`);
  for await (const event of job(input)) tell({ event });
}
