/** The CPU time of the process in milliseconds, which does not depend on what else the machine does. */
export function cpuTime() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
