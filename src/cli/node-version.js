// Also run alone, before Node gets flags that an old version refuses: see `start` in package.json.
const NEEDED = 24;

export const isSupported = Number(process.versions.node.split('.')[0]) >= NEEDED;

if (!isSupported) {
  console.error(
    `gatehouse needs Node ${NEEDED} or newer; this is ${process.version} (${process.execPath}). ` +
      `Install Node ${NEEDED} (https://nodejs.org/en/download) and run this command again with it, or run \`npm install node@${NEEDED}\` here for npx (with npm 12, then \`npm install-scripts approve node && npm rebuild node\`).`,
  );
  process.exitCode = 1;
}
