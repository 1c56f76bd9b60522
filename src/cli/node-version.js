// Also run by itself, before Node is given flags that an old one refuses: see `start` in package.json.
const NEEDED = 24;

export const isSupported = Number(process.versions.node.split('.')[0]) >= NEEDED;

if (!isSupported) {
  console.error(`gatehouse needs Node ${NEEDED} or newer; this is ${process.version} (${process.execPath})`);
  process.exitCode = 1;
}
