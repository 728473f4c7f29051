import {DateTime} from "effect"
const zones=Intl.supportedValuesOf("timeZone")
const DAY=86400000
const fmts=new Map()
const key=(z,t)=>{let f=fmts.get(z); if(!f) fmts.set(z,f=new Intl.DateTimeFormat("en-CA",{timeZone:z,year:"numeric",month:"2-digit",day:"2-digit"})); return f.format(t)}
const A=(now,z)=>{const zone=DateTime.zoneUnsafeMakeNamed(z); return DateTime.unsafeMakeZoned(now,{timeZone:zone}).pipe(DateTime.add({days:1}),DateTime.startOf("day"),DateTime.toEpochMillis)}
const B=(now,z)=>{const zone=DateTime.zoneUnsafeMakeNamed(z); return DateTime.unsafeMakeZoned(now,{timeZone:zone}).pipe(DateTime.startOf("day"),DateTime.add({days:1}),DateTime.startOf("day"),DateTime.toEpochMillis)}
const off=(t,zone)=>DateTime.zonedOffset(DateTime.unsafeMakeZoned(t,{timeZone:zone}))
// check: result r > now, key(r) != key(now), key(r-1)==key(now)
const bad={A:new Set(),B:new Set()}, ex=[]
const t0=Date.UTC(2007,0,1), t1=Date.UTC(2028,0,1)
let n=0
for (const z of zones) { for (let i=0;i<800;i++) { const now=t0+Math.floor((t1-t0)*((i+((i*7919+z.length*31)%97)/97)/800)); n++
  for (const [k,f] of [["A",A],["B",B]]) { const r=f(now,z); if(!(r>now && key(z,r)!==key(z,now) && key(z,r-1)===key(z,now))) { bad[k].add(z+" "+new Date(now).toISOString()+" "+new Date(r).toISOString()) } } } }
console.log(n,bad.A.size,bad.B.size,[...bad.A].slice(0,20),[...bad.B].slice(0,20))
const now=Date.UTC(2026,6,1,10); for (const [k,f] of [["A",A],["B",B],["off",(n,z)=>off(n,DateTime.zoneUnsafeMakeNamed(z))]]) { let s=performance.now(); for(let i=0;i<20000;i++) f(now+i*1000,"Africa/Tunis"); console.log(k,(performance.now()-s)/20,"µs") }
const f=new Intl.DateTimeFormat("en-US",{timeZone:"Africa/Tunis",timeZoneName:"longOffset"}); let s=performance.now(); for(let i=0;i<20000;i++) f.formatToParts(now+i*1000); console.log("ftp",(performance.now()-s)/20,"µs")
