import { testTabs } from "./tabs.ts";

testTabs("bash");
