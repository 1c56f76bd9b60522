import { startSimulator } from '../server.ts';

/** `gatehouse simulator`: runs the simulated upstream alone until it is stopped. */
export async function simulatorCommand({
  port,
  out,
}: {
  readonly port: number;
  readonly out: (text: string) => void;
}): Promise<number> {
  const simulator = await startSimulator({ port });
  out(`The simulator listens on ${simulator.url}; its models are described in docs/providers/simulator.md\n`);
  await new Promise<void>((resolve) => process.once('SIGTERM', resolve).once('SIGINT', resolve));
  await simulator.close();
  return 0;
}
