import { testTabs } from "./tabs.ts";

testTabs("fish");
